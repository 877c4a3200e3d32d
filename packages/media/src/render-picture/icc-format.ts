/** The format of ICC profiles (ICC.1:2022), as far as `colour-profile.ts` needs it. */

/** The white of profiles, as XYZ (section 7.2.16). */
export const d50 = [0.9642, 1, 0.8249] as const;

// Samples of a curve that has no formula in ICC.
const curveSamples = 4096;

/** Samples of a curve over 0 to 1, clipped at 1 (section 10.6). */
export function encodeTable(curve: (value: number) => number): Buffer {
  const table = Buffer.alloc(12 + curveSamples * 2);
  table.write('curv', 'latin1');
  table.writeUInt32BE(curveSamples, 8);
  for (let n = 0; n < curveSamples; n += 1) {
    const light = Math.min(1, curve(n / (curveSamples - 1)));
    table.writeUInt16BE(Math.round(light * 65_535), 12 + n * 2);
  }
  return table;
}

/** A parametric curve (section 10.18). */
export function encodeFormula(kind: number, parameters: readonly number[]): Buffer {
  const bytes = Buffer.alloc(12 + parameters.length * 4);
  bytes.write('para', 'latin1');
  bytes.writeUInt16BE(kind, 8);
  parameters.forEach((each, n) => {
    bytes.writeInt32BE(toFixed(each), 12 + n * 4);
  });
  return bytes;
}

/** A colour in XYZ (section 10.31). */
export function encodeXyz(colour: readonly number[]): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.write('XYZ ', 'latin1');
  colour.forEach((each, n) => {
    bytes.writeInt32BE(toFixed(each), 8 + n * 4);
  });
  return bytes;
}

function toFixed(value: number): number {
  return Math.round(value * 65_536);
}

const headerBytes = 128;
const tagBytes = 12;

/** A profile for a space of samples, with these tags (section 7). Descriptions are left out: it never leaves this process. */
export function writeProfile(
  space: 'RGB ' | 'GRAY',
  tags: readonly (readonly [name: string, content: Buffer])[],
): Buffer {
  const table = Buffer.alloc(4 + tags.length * tagBytes);
  table.writeUInt32BE(tags.length);
  let end = headerBytes + table.length;
  tags.forEach(([name, { length }], n) => {
    const at = 4 + n * tagBytes;
    table.write(name, at, 'latin1');
    table.writeUInt32BE(end, at + 4);
    table.writeUInt32BE(length, at + 8);
    end += length;
  });
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(end, 0);
  header.writeUInt32BE(0x04400000, 8);
  header.write(`mntr${space}XYZ `, 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  encodeXyz(d50).copy(header, 68, 8);
  return Buffer.concat([header, table, ...tags.map(([, content]) => content)]);
}

/** The content of a tag; undefined if the profile has none, or ends before it. */
export function readTag(profile: Buffer, name: string): Buffer | undefined {
  const count = profile.length < headerBytes + 4 ? 0 : profile.readUInt32BE(headerBytes);
  for (let n = 0, at = headerBytes + 4; n < count && at + tagBytes <= profile.length; n += 1, at += tagBytes) {
    if (profile.toString('latin1', at, at + 4) !== name) continue;
    const offset = profile.readUInt32BE(at + 4);
    const length = profile.readUInt32BE(at + 8);
    return offset + length <= profile.length ? profile.subarray(offset, offset + length) : undefined;
  }
  return undefined;
}
