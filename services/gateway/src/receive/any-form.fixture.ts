import { multipartForm } from '@echodrop/testkit/multipart-form';
import fc from 'fast-check';
import { FormContent } from './form-content.ts';
import { FormReader } from './read-form.ts';
import type { ReceivedMedia } from './received-media.ts';

export type Compatibility = 'strict' | 'historic';

/** Reads a form that arrives in pieces. @throws Refusal */
export function readForm(
  body: Buffer,
  boundary: string,
  cuts: readonly number[] = [],
  compatibility: Compatibility = 'strict',
) {
  const media: Buffer[] = [];
  let isWhole = false;
  const received = {
    write: (bytes: Buffer) => media.push(bytes),
    end: () => {
      isWhole = true;
    },
  };
  const content = new FormContent(() => received as unknown as ReceivedMedia);
  const form = new FormReader(boundary, compatibility, content);
  for (const piece of pieces(body, cuts)) form.read(piece);
  form.end();
  const { fields, misplaced } = content;
  return { fields: Object.fromEntries(fields), misplaced, media: isWhole ? Buffer.concat(media) : undefined };
}

function* pieces(body: Buffer, cuts: readonly number[]): Generator<Buffer> {
  const at = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
  for (let i = 1; i < at.length; i++) yield body.subarray(at[i - 1], at[i]);
}

/** Where a body is cut into pieces. */
export const anyCuts = fc.array(fc.nat(), { maxLength: 30 });

const boundaryChars = fc.constantFrom(..."0123456789abcXYZ'()+_,-./:=? ");
export const anyBoundary = fc
  .string({ unit: boundaryChars, minLength: 1, maxLength: 70 })
  .map((boundary) => boundary.replace(/ $/, '_'));

/** A well-formed form, with its boundary and what is sent with it. */
export function anyForm(boundaries: fc.Arbitrary<string> = anyBoundary) {
  const sent = fc.record({
    key: fc.string(),
    message: fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
    media: fc.uint8Array({ minLength: 1, maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
    // The first as some clients write it.
    filename: fc.constantFrom('a;"\\.jpg', 'a.jpg'),
  });
  return fc
    .record({ sent, boundary: boundaries, turn: fc.nat(5) })
    .filter(({ sent, boundary, turn }) => occursOnlyBetween(boundary, formOf(sent, boundary, turn)));
}

type Sent = { readonly key: string; readonly message: string; readonly media: Buffer; readonly filename: string };

/** The body of a form; `turn` is the order of its parts. */
export function formOf(sent: Sent, boundary: string, turn: number): Buffer {
  const parts = [
    { name: 'key', content: sent.key },
    { name: 'message', content: sent.message },
    { name: 'media', filename: sent.filename, content: sent.media },
  ];
  const turned = [...parts.slice(turn % 3), ...parts.slice(0, turn % 3)];
  return multipartForm(turn > 2 ? turned.reverse() : turned, boundary).body;
}

function occursOnlyBetween(boundary: string, body: Buffer): boolean {
  return body.toString('latin1').split(`\r\n--${boundary}`).length === 4;
}
