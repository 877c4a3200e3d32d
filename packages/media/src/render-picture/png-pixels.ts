const magicBytes = 8;

// Chunks that define the pixels' coding and colours.
const neededTypes = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND', 'iCCP', 'sRGB', 'gAMA', 'cHRM', 'cICP', 'sBIT']);

/**
 * Removes, in place, all chunks of a PNG that its pixels do not need: decoders unpack every text, and a kilobyte of it may
 * become a megabyte. Keeps the first of several profiles, and a truncated chunk.
 */
export function keepPixelChunks(png: Buffer): Buffer {
  let [from, to, profiles] = [magicBytes, magicBytes, 0];
  while (from + 12 <= png.length) {
    const type = png.toString('latin1', from + 4, from + 8);
    const end = Math.min(from + 12 + png.readUInt32BE(from), png.length);
    const isNeeded = neededTypes.has(type) && (type !== 'iCCP' || profiles++ === 0);
    if (isNeeded) {
      if (to < from) png.copyWithin(to, from, end);
      to += end - from;
    }
    from = end;
  }
  return png.subarray(0, to);
}
