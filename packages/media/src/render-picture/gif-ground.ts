import { gifScreen } from '../photo-size/gif-size.ts';

/**
 * A GIF for libnsgif, which does not believe in screens of the sizes of monitors and takes the first frame's instead,
 * and paints what no frame covers. Where the first frame leaves some of the screen free, a clear pixel in the farthest
 * corner is put before it: `framesAdded` is then 1, else 0.
 */
export function onClearGround(gif: Buffer): { readonly gif: Buffer; readonly framesAdded: number } {
  const screen = gifScreen(gif);
  if (!screen || screen.isCovered || screen.width < 1 || screen.height < 1) return { gif, framesAdded: 0 };
  const pixel = clearPixel(screen.width - 1, screen.height - 1);
  const [before, blocks] = [gif.subarray(0, screen.blocksAt), gif.subarray(screen.blocksAt)];
  return { gif: Buffer.concat([before, pixel, blocks]), framesAdded: 1 };
}

// A control block that makes colour 0 clear (GIF89a section 23), the place, two colours, and the sample 0.
function clearPixel(left: number, top: number): Buffer {
  const place = Buffer.from(',\0\0\0\0\x01\0\x01\0\x80', 'latin1');
  place.writeUInt16LE(left, 1);
  place.writeUInt16LE(top, 3);
  const control = Buffer.from('\x21\xf9\x04\x05\0\0\0\0', 'latin1');
  return Buffer.concat([control, place, Buffer.alloc(6), Buffer.from('\x02\x02\x44\x01\0', 'latin1')]);
}
