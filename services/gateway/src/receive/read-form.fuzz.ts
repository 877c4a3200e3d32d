import { edited, edits } from '@echodrop/testkit/fuzz/edited-bytes';
import { fuzz } from '@echodrop/testkit/fuzz/fuzz';
import fc from 'fast-check';
import { expect } from 'vitest';
import { Refusal } from '../response/refusal-error.ts';
import { anyBoundary, anyCuts, anyForm, type Compatibility, formOf, readForm } from './any-form.fixture.ts';

const tokens = [
  ...[
    '\r\n--bound',
    '--bound\r\n',
    '--bound--',
    '\r\n--bound--\r\n',
    '\r\n\r\n',
    '\r\n',
    '\r',
    '\n',
    '\0',
    '\r\n ',
    '--',
  ],
  ...['name="key"', 'name=media', '; filename="', "; filename*=UTF-8''%0a", '; NAME="alt"', '"', '\\"', ';', ','],
  ...[
    'Content-Disposition: form-data; name="message"\r\n',
    'Content-Disposition: file; ',
    'Content-Type: image/png\r\n',
  ],
  ...['Content-Type: text/plain; charset=utf-16\r\n', 'Content-Transfer-Encoding: base64\r\n', '\xef\xbb\xbf', '\xff'],
];
const cases = fc.record({
  form: anyForm(fc.oneof(fc.constant('bound'), anyBoundary)),
  changes: edits(6, tokens),
  cuts: anyCuts,
});

fuzz(
  'a form is read or refused, as a whole as in pieces, and as undici reads it',
  cases,
  async ({ form, changes, cuts }) => {
    const { sent, boundary, turn } = form;
    const body = edited(formOf(sent, boundary, turn), changes);
    const whole = outcomeOf(body, boundary);
    expect(outcomeOf(body, boundary, cuts)).toEqual(whole);
    expect(outcomeOf(body, boundary, everyByte(body))).toEqual(whole);
    if (whole instanceof Refusal) return expectReadable(whole);
    expect(outcomeOf(body, boundary, cuts, 'historic')).toEqual(whole);
    const { fields, media, misplaced } = whole;
    const other = hasPlainHeaders(body, boundary) && (await readByUndici(body, boundary));
    const known = Object.entries({ ...fields, ...(media && { media: media.toString() }) });
    // Undici does not say which of two parts of a name came as a file.
    const comparable = (all: [string, string][]) => all.filter(([name]) => !misplaced.has(name)).toSorted();
    if (other) expect(comparable(other)).toEqual(comparable(known));
  },
);

/** What is read of a form, or the refusal. Other errors are thrown. */
function outcomeOf(
  body: Buffer,
  boundary: string,
  cuts: readonly number[] = [],
  compatibility: Compatibility = 'strict',
) {
  try {
    return readForm(body, boundary, cuts, compatibility);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function everyByte({ length }: Buffer): number[] {
  return Array.from({ length }, (_, n) => n);
}

function expectReadable({ reason, status, sentence }: Refusal): void {
  expect({ reason, status }).toEqual({ reason: 'form_malformed', status: 400 });
  expect(sentence).toMatch(/^[A-Z][\x20-\x7e]{10,300}\.$/);
}

// Undici guesses what other headers mean, begins at a delimiter within a preamble, and drops a byte order mark before a name, against the
// Fetch Standard ("UTF-8 decode without BOM").
const disposition = /^Content-Disposition:[ \t]*form-data(?:;[ \t]*[\w-]+="(?!\xef\xbb\xbf)[^"\\\r\n]*")*\r$/i;

function hasPlainHeaders(body: Buffer, boundary: string): boolean {
  const lines = body.toString('latin1').split('\n');
  return (
    body.indexOf(`--${boundary}`) === 0 && lines.every((line) => !/disposition/i.test(line) || disposition.test(line))
  );
}

/** The parameters as Node's own parser reads them; undefined if it refuses the form. */
async function readByUndici(body: Buffer, boundary: string): Promise<[name: string, text: string][] | undefined> {
  const headers = { 'Content-Type': `multipart/form-data; boundary="${boundary}"` };
  const form = await new Response(new Uint8Array(body), { headers }).formData().catch(() => undefined);
  if (!form) return undefined;
  const texts: [string, string][] = [];
  for (const name of ['key', 'message', 'alt', 'media'])
    for (const value of form.getAll(name))
      texts.push([name, typeof value === 'string' ? value : Buffer.from(await value.bytes()).toString()]);
  // An empty file is none.
  return texts.filter(([name, text]) => name !== 'media' || text !== '');
}
