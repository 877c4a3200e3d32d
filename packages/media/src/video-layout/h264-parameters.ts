// ITU-T H.264 section 7.3.2.1.1: profiles whose parameters include colours and bit depths.
const highProfiles = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
const maxReferences = 255;

/**
 * Whether the parameters in an `avcC` box (ISO/IEC 14496-15 section 5.3.3.1) rule out interlaced pictures
 * (`frame_mbs_only_flag`). False if they do not, or cannot be read here.
 */
export function isFramesOnly(avcC: Buffer): boolean {
  const sets = sequenceParameterSets(avcC);
  return sets.length > 0 && sets.every((set) => hasFramesOnlyFlag(set));
}

function sequenceParameterSets(avcC: Buffer): Buffer[] {
  const count = (avcC[5] ?? 0) & 31;
  const sets: Buffer[] = [];
  for (let at = 6; sets.length < count && at + 2 <= avcC.length; at += 2 + avcC.readUInt16BE(at)) {
    sets.push(avcC.subarray(at + 2, at + 2 + avcC.readUInt16BE(at)));
  }
  return sets.length === count ? sets : [];
}

function hasFramesOnlyFlag(unit: Buffer): boolean {
  const profile = unit[1] ?? 0;
  const bits = new BitReader(removeEmulationBytes(unit.subarray(4)));
  bits.expGolomb();
  if (highProfiles.includes(profile)) {
    if (bits.expGolomb() === 3) bits.bit();
    bits.expGolomb();
    bits.expGolomb();
    bits.bit();
    // Scaling lists may follow: rare, and not read here.
    if (bits.bit() === 1) return false;
  }
  bits.expGolomb();
  skipPictureOrder(bits);
  bits.expGolomb();
  bits.bit();
  bits.expGolomb();
  bits.expGolomb();
  return bits.bit() === 1;
}

function skipPictureOrder(bits: BitReader): void {
  const kind = bits.expGolomb();
  if (kind === 0) bits.expGolomb();
  if (kind !== 1) return;
  bits.bit();
  bits.expGolomb();
  bits.expGolomb();
  const references = Math.min(bits.expGolomb(), maxReferences);
  for (let n = 0; n < references; n += 1) bits.expGolomb();
}

// Section 7.3.1: a 3 after two zeros is not part of the data.
function removeEmulationBytes(bytes: Buffer): Buffer {
  return Buffer.from(bytes.filter((byte, at) => !(byte === 3 && bytes[at - 1] === 0 && bytes[at - 2] === 0)));
}

/** Reads bits, the highest first; zeros after the end. */
class BitReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  bit(): number {
    const byte = this.#bytes[this.#at >> 3] ?? 0;
    const bit = (byte >> (7 - (this.#at & 7))) & 1;
    this.#at += 1;
    return bit;
  }

  /** An Exp-Golomb code (section 9.1), ignoring the sign. */
  expGolomb(): number {
    let zeros = 0;
    while (zeros < 32 && this.bit() === 0) zeros += 1;
    let number = 1;
    for (let n = 0; n < zeros; n += 1) number = number * 2 + this.bit();
    return number - 1;
  }
}
