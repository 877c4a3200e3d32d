import fc from 'fast-check';

/** A change of bytes. Positions count from the start, and begin again at the end. */
export type Edit =
  | { readonly set: readonly number[]; readonly at: number }
  | { readonly insert: readonly number[]; readonly at: number }
  | { readonly copyFrom: number; readonly bytes: number; readonly at: number }
  | { readonly remove: number; readonly at: number }
  | { readonly cutAt: number };

// Headers are where lengths and offsets are.
const position = fc.oneof(fc.nat(64), fc.nat(2048), fc.nat());
const interesting = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
const numbers = interesting.flatMap((value) =>
  [1, 2, 4, 8].flatMap((width) => {
    const bytes = Array.from({ length: width }, (_, n) => (n < 4 ? (value >>> (8 * n)) & 0xff : 0));
    return [bytes, bytes.toReversed()];
  }),
);
const someBytes = fc.oneof(fc.constantFrom(...numbers), fc.array(fc.nat(255), { minLength: 1, maxLength: 8 }));

/** Up to `most` changes of binary bytes. `tokens` are words of the format, which are inserted. */
export function edits(most: number, tokens: readonly string[] = []): fc.Arbitrary<Edit[]> {
  const words = tokens.map((token) => [...Buffer.from(token, 'latin1')]);
  const inserted = words.length > 0 ? fc.oneof(fc.constantFrom(...words), someBytes) : someBytes;
  const length = fc.oneof(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 1, max: 4096 }));
  const edit: fc.Arbitrary<Edit> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ set: someBytes, at: position }) },
    { weight: 2, arbitrary: fc.record({ insert: inserted, at: position }) },
    { weight: 2, arbitrary: fc.record({ copyFrom: position, bytes: length, at: position }) },
    { weight: 2, arbitrary: fc.record({ remove: length, at: position }) },
    { weight: 1, arbitrary: fc.record({ cutAt: position }) },
  );
  return fc.array(edit, { maxLength: most });
}

export function edited(whole: Buffer, changes: readonly Edit[]): Buffer {
  return changes.reduce(change, Buffer.from(whole));
}

function change(bytes: Buffer, edit: Edit): Buffer {
  const place = (at: number) => at % (bytes.length + 1);
  if ('cutAt' in edit) return bytes.subarray(0, place(edit.cutAt));
  const at = place(edit.at);
  const before = bytes.subarray(0, at);
  const after = bytes.subarray(at);
  if ('set' in edit) return Buffer.concat([before, Buffer.from(edit.set), after.subarray(edit.set.length)]);
  if ('remove' in edit) return Buffer.concat([before, after.subarray(edit.remove)]);
  if ('insert' in edit) return Buffer.concat([before, Buffer.from(edit.insert), after]);
  const from = place(edit.copyFrom);
  return Buffer.concat([before, bytes.subarray(from, from + edit.bytes), after]);
}
