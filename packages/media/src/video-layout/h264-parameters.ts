// ITU-T H.264 section 7.3.2.1.1: profiles whose parameters tell of colours and bits too.
const highProfiles = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
const mostReferences = 255;

/**
 * Whether the parameters in an `avcC` box (ISO/IEC 14496-15 section 5.3.3.1) say that a video has whole pictures alone, none of two
 * fields. False where they say otherwise, or where it takes more to know.
 */
export function hasWholePicturesAlone(avcC: Buffer): boolean {
  const sets = sequenceParameters(avcC);
  return sets.length > 0 && sets.every((set) => saysFramesOnly(set));
}

function sequenceParameters(avcC: Buffer): Buffer[] {
  const count = (avcC[5] ?? 0) & 31;
  const sets: Buffer[] = [];
  for (let at = 6; sets.length < count && at + 2 <= avcC.length; at += 2 + avcC.readUInt16BE(at)) {
    sets.push(avcC.subarray(at + 2, at + 2 + avcC.readUInt16BE(at)));
  }
  return sets.length === count ? sets : [];
}

function saysFramesOnly(unit: Buffer): boolean {
  const profile = unit[1] ?? 0;
  const bits = new BitReader(withoutEmulation(unit.subarray(4)));
  bits.number();
  if (highProfiles.includes(profile)) {
    if (bits.number() === 3) bits.bit();
    bits.number();
    bits.number();
    bits.bit();
    // Lists of scaling factors may follow: rare, and long to read.
    if (bits.bit() === 1) return false;
  }
  bits.number();
  skipOrder(bits);
  bits.number();
  bits.bit();
  bits.number();
  bits.number();
  return bits.bit() === 1;
}

// How the order of pictures is told.
function skipOrder(bits: BitReader): void {
  const kind = bits.number();
  if (kind === 0) bits.number();
  if (kind !== 1) return;
  bits.bit();
  bits.number();
  bits.number();
  const references = Math.min(bits.number(), mostReferences);
  for (let n = 0; n < references; n += 1) bits.number();
}

// Section 7.3.1: a 3 after two zeros is none of the data.
function withoutEmulation(bytes: Buffer): Buffer {
  return Buffer.from(bytes.filter((byte, at) => !(byte === 3 && bytes[at - 1] === 0 && bytes[at - 2] === 0)));
}

/** Bits from the highest on; behind the end there are zeros. */
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

  /** An Exp-Golomb code (section 9.1), without its sign where it has one. */
  number(): number {
    let zeros = 0;
    while (zeros < 32 && this.bit() === 0) zeros += 1;
    let number = 1;
    for (let n = 0; n < zeros; n += 1) number = number * 2 + this.bit();
    return number - 1;
  }
}
