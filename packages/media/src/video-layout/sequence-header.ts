const startCode = Buffer.from([0, 0, 1]);

/**
 * The offset in a part of an MPEG stream at which decoding can start: a sequence header of MPEG-1 or MPEG-2, or a sequence
 * parameter set of H.264 or HEVC. -1 if there is none that is certain.
 */
export function findSequenceHeader(bytes: Buffer): number {
  for (let at = bytes.indexOf(startCode); at >= 0; at = bytes.indexOf(startCode, at + 3)) {
    const [unit = 0, first = 0, second = 0] = bytes.subarray(at + 3, at + 6);
    if (unit === 0xb3 || isH264(unit, first, second) || (unit === 0x42 && first === 1)) return at;
  }
  return -1;
}

// The same bytes start slices of MPEG-2 pictures more than 600 lines high, so this checks profile and flags too (ITU-T H.264
// section 7.3.2.1.1 and annex A).
const profiles = [66, 77, 88, 100, 110, 122, 244];
function isH264(unit: number, profile: number, flags: number): boolean {
  return [0x27, 0x47, 0x67].includes(unit) && profiles.includes(profile) && (flags & 3) === 0;
}
