import { behindSubBlocks, coloursBytes, extension, frame, gifScreen } from '../photo-size/gif-size.ts';

const graphicControl = 0xf9;
// In a control block's flags (GIF89a section 23).
const [isTransparent, disposal] = [0x01, 0x1c];
const toBackground = 2 << 2;
// Of samples of eight bits.
const [clearCode, endCode, leastWidth, mostCodes] = [256, 257, 9, 4096];

/**
 * Changes a GIF for libnsgif: where a frame that is taken away leaves the background (disposal 2), browsers show nothing,
 * and libnsgif paints its colour unless the frame has a transparent one. Such a frame is given one that no pixel of it has;
 * where its pixels have all 256, it is left as it is.
 */
export function clearWhatIsDisposedOf(gif: Buffer): void {
  for (const { controlAt, samplesAt } of controlledFrames(gif)) {
    const flags = gif.readUInt8(controlAt);
    if ((flags & disposal) !== toBackground || (flags & isTransparent) !== 0) continue;
    const unused = unusedSample(gif, samplesAt);
    if (unused === undefined) continue;
    gif.writeUInt8(flags | isTransparent, controlAt);
    gif.writeUInt8(unused, controlAt + 3);
  }
}

/** The frames that have a control block, and where its flags and the frame's compressed samples begin. */
function* controlledFrames(gif: Buffer): Generator<{ readonly controlAt: number; readonly samplesAt: number }> {
  let controlAt: number | undefined;
  for (let at = gifScreen(gif)?.blocksAt ?? gif.length; at < gif.length; ) {
    if (gif[at] === extension) {
      if (gif[at + 1] === graphicControl && gif[at + 2] === 4) controlAt = at + 3;
      at = behindSubBlocks(gif, at + 2);
    } else if (gif[at] === frame) {
      const samplesAt = at + 10 + coloursBytes(gif[at + 9] ?? 0);
      if (controlAt !== undefined) yield { controlAt, samplesAt };
      controlAt = undefined;
      at = behindSubBlocks(gif, samplesAt + 1);
    } else return;
  }
}

// Appendix F: a sample first turns up as a code of its own, so that nothing need be unpacked to know those that are used.
function unusedSample(gif: Buffer, samplesAt: number): number | undefined {
  const bits = gif[samplesAt] ?? 0;
  if (bits !== 8) return bits < 8 ? 255 : undefined;
  const unused = new Set(Array(256).keys());
  for (const code of codes(gif, samplesAt + 1)) {
    if (unused.delete(code) && unused.size === 0) return undefined;
  }
  return Math.max(...unused);
}

/** The codes of samples of eight bits, in the blocks that begin at `start`. */
function* codes(gif: Buffer, start: number): Generator<number> {
  let [latest, width, isFirst] = [endCode, leastWidth, true];
  let [held, heldBits] = [0, 0];
  for (const byte of bytesOfSubBlocks(gif, start)) {
    held |= byte << heldBits;
    heldBits += 8;
    if (heldBits < width) continue;
    const code = held & (2 ** width - 1);
    held >>>= width;
    heldBits -= width;
    if (code === endCode) return;
    yield code;
    // Each code but the first makes one more known, until all of twelve bits are.
    if (code === clearCode) [latest, width] = [endCode, leastWidth];
    else if (!isFirst) latest = Math.min(latest + 1, mostCodes - 1);
    if (latest + 1 === 2 ** width && latest + 1 < mostCodes) width += 1;
    isFirst = code === clearCode;
  }
}

function* bytesOfSubBlocks(gif: Buffer, start: number): Generator<number> {
  for (let at = start, length = gif[at] ?? 0; length > 0; at += 1 + length, length = gif[at] ?? 0) {
    yield* gif.subarray(at + 1, at + 1 + length);
  }
}
