const magicBytes = 8;

// What tells how the pixels are coded, and what their colours mean.
const needed = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND', 'iCCP', 'sRGB', 'gAMA', 'cHRM', 'cICP', 'sBIT']);

/**
 * A PNG without all chunks that its pixels do not need, moved together in place: decoders unpack every text, and each
 * kilobyte of it may become a megabyte. Of several profiles the first counts. A chunk that is cut off stays.
 */
export function pixelsOnly(png: Buffer): Buffer {
  let [from, to, profiles] = [magicBytes, magicBytes, 0];
  while (from + 12 <= png.length) {
    const type = png.toString('latin1', from + 4, from + 8);
    const end = Math.min(from + 12 + png.readUInt32BE(from), png.length);
    const isNeeded = needed.has(type) && (type !== 'iCCP' || profiles++ === 0);
    if (isNeeded) {
      if (to < from) png.copyWithin(to, from, end);
      to += end - from;
    }
    from = end;
  }
  return png.subarray(0, to);
}
