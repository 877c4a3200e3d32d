/** A box of an ISO media file, with concatenated content. */
export function isoBox(type: string, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(content.length + 8, 0);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, content]);
}

/** The file type box. */
export function ftyp(major: string, ...compatible: readonly string[]): Buffer {
  return isoBox('ftyp', Buffer.from([major, '\0\0\0\0', ...compatible].join(''), 'latin1'));
}

/** The directory of a HEIC or AVIF without picture: coded as `width` x `height`, then rotated. */
export function heifHeader(
  brand: string,
  { width, height, quarterTurns = 0 }: { width: number; height: number; quarterTurns?: number },
): Buffer {
  const properties = isoBox(
    'ipco',
    isoBox('ispe', u32(0, 64, 64)),
    isoBox('ispe', u32(0, width, height)),
    isoBox('irot', Buffer.from([quarterTurns])),
  );
  // Item 1 is a preview with the first extent; item 2, the primary one, has the second, and the rotation.
  const associations = isoBox('ipma', u32(0, 2), Buffer.from([0, 1, 1, 0x81, 0, 2, 2, 0x82, 0x83]));
  const coded = Buffer.from(brand === 'avif' ? 'av01\0' : 'hvc1\0');
  const items = [1, 2].map((id) => isoBox('infe', Buffer.from([2, 0, 0, 0, 0, id, 0, 0]), coded));
  const meta = isoBox(
    'meta',
    u32(0),
    isoBox('pitm', u32(0), Buffer.from([0, 2])),
    isoBox('iinf', u32(0), Buffer.from([0, items.length]), ...items),
    isoBox('iprp', properties, associations),
  );
  return Buffer.concat([ftyp(brand, 'mif1', brand), meta, isoBox('mdat', Buffer.alloc(16))]);
}

/** Numbers of 32 bits, big-endian, truncated. */
export function u32(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  numbers.forEach((number, n) => {
    bytes.writeUInt32BE(number % 2 ** 32, n * 4);
  });
  return bytes;
}
