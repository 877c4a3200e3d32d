import { maxAltCharacters } from '@echodrop/record';
import { multipartForm } from '@echodrop/testkit/multipart-form';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCuts, anyForm, formOf, readForm } from './any-form.fixture.ts';
import { maxFieldBytes, maxSecretBytes } from './form-content.ts';
import { FormReader } from './read-form.ts';
import { boundaryOf } from './receive-form.ts';

const read = async (...form: Parameters<typeof readForm>) => readForm(...form);

test('a valid form is read as sent, in any order, with any boundary, in any pieces', async () => {
  await fc.assert(
    fc.asyncProperty(anyForm(), anyCuts, async ({ sent, boundary, turn }, cuts) => {
      const { fields, media } = await read(formOf(sent, boundary, turn), boundary, cuts);
      expect(fields).toEqual({ key: sent.key, message: sent.message });
      expect(media).toEqual(sent.media);
    }),
    { numRuns: 300 },
  );
});

test('content in a separate chunk is forwarded in one piece', () => {
  const pieces: string[] = [];
  const form = new FormReader('bound', 'strict', {
    begin: () => {},
    content: (bytes) => pieces.push(`${bytes}`),
    end: () => {},
  });
  form.read(Buffer.from('--bound\r\nContent-Disposition: form-data; name="media"; filename="a"\r\n\r\n'));
  form.read(Buffer.from('the first bytes of a photo'));
  expect(pieces).toEqual(['the first bytes of a photo']);
});

// Each of these makes a form of three parts with the boundary `bound` malformed.
const breakings: Record<string, (body: Buffer, at: number) => Buffer> = {
  'cut before its end': (body, at) => body.subarray(0, at % (body.length - '--\r\n'.length)),
  'a part twice': (body) =>
    Buffer.concat([body.subarray(0, body.indexOf('\r\n--bound', 1)), Buffer.from('\r\n'), body]),
  'junk behind a delimiter': (body) => replaced(body, '--bound\r\n', '--boundjunk\r\n'),
  'a delimiter without its dashes at the end': (body) => replaced(body, '--bound--', '--bound'),
  'a NUL among the headers': (body) => replaced(body, 'form-data', 'form-\0data'),
  'text that is not UTF-8': (body) => replaced(body, 'text of the caption', 'text \xff\xfe caption'),
  'an attachment': (body) => replaced(body, 'form-data', 'attachment'),
  'no blank line before the content': (body) => replaced(body, '\r\n\r\n', '\r\n'),
};

function replaced(body: Buffer, from: string, to: string): Buffer {
  return Buffer.from(
    body.toString('latin1').replace(from, () => to),
    'latin1',
  );
}

test('a malformed form is refused, in any pieces', async () => {
  const { body } = multipartForm(
    [
      { name: 'key', content: 'the key' },
      { name: 'message', content: 'text of the caption' },
      { name: 'media', filename: 'a.jpg', content: Buffer.from([0xff, 0xd8, 0xff, 0x00, 0x0d, 0x0a, 0x2d, 0x2d]) },
    ],
    'bound',
  );
  const cases = fc.record({
    how: fc.constantFrom(...Object.keys(breakings)),
    at: fc.nat(),
    cuts: fc.array(fc.nat(), { maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ how, at, cuts }) => {
      const broken = breakings[how]?.(body, at) ?? body;
      await expect(read(broken, 'bound', cuts)).rejects.toMatchObject({ reason: 'form_malformed' });
    }),
    { numRuns: 500 },
  );
});

const part = (headers: string, content = 'x') =>
  Buffer.from(`--b\r\n${headers}\r\n\r\n${content}\r\n--b--\r\n`, 'latin1');

describe('forms of known clients are accepted', () => {
  test.each([
    [
      'typed text',
      part('Content-Disposition: form-data; name="key"\r\nContent-Type: text/plain; charset=UTF-8'),
      { key: 'x' },
    ],
    ['names without quotes', part('content-disposition:form-data;name=key'), { key: 'x' }],
    [
      'parameters in another order and case',
      part('Content-Type: text/plain\r\nCONTENT-DISPOSITION: Form-Data; size=1; NAME="key"'),
      { key: 'x' },
    ],
    ['folded headers', part('Content-Disposition: form-data;\r\n name="key"'), { key: 'x' }],
    [
      "a part's own length and encoding",
      part('Content-Disposition: form-data; name="key"\r\nContent-Length: 1\r\nContent-Transfer-Encoding: 8bit'),
      { key: 'x' },
    ],
    [
      'padding after the delimiter',
      Buffer.from('--b \t\r\nContent-Disposition: form-data; name="key"\r\n\r\nx\r\n--b--'),
      { key: 'x' },
    ],
    [
      'a preamble and an epilogue',
      Buffer.concat([
        Buffer.from('hello\r\n'),
        part('Content-Disposition: form-data; name="key"'),
        Buffer.from('bye\r\n--b\r\n'),
      ]),
      { key: 'x' },
    ],
    ['no final line break', part('Content-Disposition: form-data; name="key"').subarray(0, -2), { key: 'x' }],
    ['the comma of RFC 1867', part('Content-Disposition: form-data, name="key"'), { key: 'x' }],
    [
      'ASCII declared as another charset',
      part('Content-Disposition: form-data; name="key"\r\nContent-Type: text/plain; charset=ISO-8859-1'),
      { key: 'x' },
    ],
    [
      'malformed other parts',
      part(
        'Content-Disposition: form-data; name="x"\r\nContent-Type: text/plain; charset=utf-16\r\nContent-Transfer-Encoding: base64',
      ),
      {},
    ],
    ['names of JavaScript properties', part('Content-Disposition: form-data; name="__proto__"'), {}],
  ])('%s', async (_what, body, fields) => {
    expect((await read(body, 'b')).fields).toEqual(fields);
  });

  test.each([
    ['a path', 'filename="C:\\photos\\a.jpg"'],
    ['broken quotes', 'filename="a"b.jpg"'],
    ['an encoded name', "filename*=UTF-8''%0d%0aa.jpg"],
    ['an empty name', 'filename=""'],
    ['bytes of another charset', 'filename="\xe4\xf6.jpg"'],
  ])('a file name that is %s', async (_what, filename) => {
    const body = part(`Content-Disposition: form-data; name="media"; ${filename}\r\nContent-Type: image/jpeg`, 'bytes');
    expect((await read(body, 'b')).media?.toString()).toBe('bytes');
  });

  test('a file without a name, if its type is not text', async () => {
    const body = part('Content-Disposition: form-data; name="media"\r\nContent-Type: image/jpeg', 'bytes');
    expect((await read(body, 'b')).media?.toString()).toBe('bytes');
  });
});

describe('malformed forms are refused', () => {
  test.each([
    [
      'a delimiter with trailing text',
      Buffer.from('--b\r\nContent-Disposition: form-data; name="key"\r\n\r\nx\r\n--bad\r\ny\r\n--b--\r\n'),
    ],
    [
      'a last delimiter with trailing text',
      Buffer.from('--b\r\nContent-Disposition: form-data; name="key"\r\n\r\nx\r\n--b--y\r\nz\r\n--b--\r\n'),
    ],
    [
      'a delimiter among the headers of a part',
      Buffer.from('--b\r\nContent-Disposition: form-data; name="key"\r\n--b\r\n\r\nx\r\n--b--\r\n'),
    ],
    [
      'an encoding hidden by a space',
      part('Content-Disposition: form-data; name="key"\r\nContent-Transfer-Encoding : base64', 'eA=='),
    ],
    [
      'two encodings',
      part(
        'Content-Disposition: form-data; name="key"\r\nContent-Transfer-Encoding: 7bit\r\nContent-Transfer-Encoding: base64',
      ),
    ],
    [
      'two charsets',
      part('Content-Disposition: form-data; name="key"\r\nContent-Type: text/plain; charset=utf-8; charset=utf-16'),
    ],
    ['text in base64', part('Content-Disposition: form-data; name="key"\r\nContent-Transfer-Encoding: base64', 'eA==')],
    [
      'text in quoted-printable',
      part('Content-Disposition: form-data; name="key"\r\nContent-Transfer-Encoding: Quoted-Printable', '=78'),
    ],
    [
      'text in UTF-16',
      part('Content-Disposition: form-data; name="key"\r\nContent-Type: text/plain; charset=utf-16', '\0x'),
    ],
    ['a part without headers', Buffer.from('--b\r\n\r\nx\r\n--b--\r\n')],
    ['a part without a disposition', part('Content-Type: text/plain')],
    ['a part without a name', part('Content-Disposition: form-data')],
    ['a part with two names', part('Content-Disposition: form-data; name="message"; name="key"')],
    ['another disposition', part('Content-Disposition: file; name="media"; filename="a"')],
    ['headers that never end', Buffer.from(`--b\r\nX: ${'x'.repeat(20_000)}`)],
    ['headers of more than 16 KiB', part(`Content-Disposition: form-data; name="key"\r\nX: ${'x'.repeat(17_000)}`)],
    ['a NUL in a header', part('Content-Disposition: form-data; name="k\0y"')],
    ['a bare CR in a header', part('Content-Disposition: form-data; name="k\ry"')],
    ['a bare LF in a header', part('Content-Disposition: form-data; name="k\ny"')],
    ['lines that end in LF', Buffer.from('--b\nContent-Disposition: form-data; name="key"\n\nx\n--b--\n')],
    [
      'text in another charset',
      part('Content-Disposition: form-data; name="key"\r\nContent-Type: text/plain; charset=ISO-8859-1', '\xe4'),
    ],
    ['text that is not UTF-8', part('Content-Disposition: form-data; name="key"', '\xe4\xf6')],
    ['a single dash at the end', part('Content-Disposition: form-data; name="key"').subarray(0, -3)],
    ['nothing', Buffer.alloc(0)],
    ['no part at all', Buffer.from('--b\r\n')],
  ])('%s', async (_what, body) => {
    await expect(read(body, 'b')).rejects.toMatchObject({ reason: 'form_malformed' });
  });
});

const altPart = (text: string) =>
  part('Content-Disposition: form-data; name="alt"', Buffer.from(text).toString('latin1'));

test('the length of an alternative text is in characters; a line break counts as one', async () => {
  const longest = '\u{1F6A4}\r\n'.repeat(maxAltCharacters / 2);
  expect((await read(altPart(longest), 'b')).fields).toEqual({ alt: longest });
});

test.each<[string, Buffer]>([
  ['The form does not contain the boundary that Content-Type names.', Buffer.from('--c\r\n\r\nx\r\n--c--\r\n')],
  [
    'Duplicate parameter: key.',
    Buffer.from(`--b${'\r\nContent-Disposition: form-data; name="key"\r\n\r\nx\r\n--b'.repeat(2)}--\r\n`),
  ],
  [
    'Parameter message is longer than 65,536 bytes.',
    part('Content-Disposition: form-data; name="message"', 'x'.repeat(maxFieldBytes + 1)),
  ],
  ...['key', 'consumer_token', 'consumer_secret', 'oauth_token', 'oauth_secret'].map((name): [string, Buffer] => [
    `Parameter ${name} is longer than 4,096 bytes.`,
    part(`Content-Disposition: form-data; name="${name}"`, 'x'.repeat(maxSecretBytes + 1)),
  ]),
  ['Parameter alt is longer than 1,500 characters.', altPart('x'.repeat(maxAltCharacters + 1))],
  ['Parameter key is not valid UTF-8.', part('Content-Disposition: form-data; name="key"', '\xe4\xf6')],
  [
    'Parameter key has an unsupported charset; send UTF-8.',
    part('Content-Disposition: form-data; name="key"\r\nContent-Type: text/plain; charset=utf-16'),
  ],
  [
    'Parameter key has an unsupported Content-Transfer-Encoding; send it as binary.',
    part('Content-Disposition: form-data; name="key"\r\nContent-Transfer-Encoding: base64'),
  ],
  [
    'Malformed multipart form: a part has no header Content-Disposition: form-data with a name.',
    part('Content-Type: text/plain'),
  ],
  [
    'Incomplete multipart form: its closing boundary is missing.',
    part('Content-Disposition: form-data; name="key"').subarray(0, -4),
  ],
  [
    'Malformed multipart form: the headers of a part are malformed, repeated or longer than 16 KiB.',
    part('Content-Disposition: form-data; name="k\0y"'),
  ],
  [
    'Parameter media was sent as text; send it as a file, with a file name.',
    part('Content-Disposition: form-data; name="media"', 'x'.repeat(maxFieldBytes + 1)),
  ],
  [
    'The form has more than 100 parts.',
    Buffer.from(`--b${'\r\nContent-Disposition: form-data; name="x"\r\n\r\nx\r\n--b'.repeat(101)}--\r\n`),
  ],
])('the message names the cause: %s', async (sentence, body) => {
  await expect(read(body, 'b')).rejects.toMatchObject({ sentence });
});

test.each([
  ['name="key"\r\nContent-Type: Application/JSON; charset=utf-8', 'key', 'Content-Type application/json'],
  ['name="key"\r\nContent-Type: application/octet-stream', 'key', 'Content-Type application/octet-stream'],
  ['name="key"; filename="key.txt"\r\nContent-Type: text/plain', 'key', 'it has a file name'],
  ['name="media"', 'media', ''],
  ['name="media"\r\nContent-Type: text/plain', 'media', ''],
])('a part with %j is of the wrong kind', async (headers, name, sign) => {
  const { misplaced } = await read(part(`Content-Disposition: form-data; ${headers}`), 'b');
  expect([...misplaced]).toEqual([[name, sign]]);
});

describe('historic', () => {
  const historic = (body: Buffer) => read(body, 'b', [], 'historic');

  test.each(['--b', '--b\r\n'])('accepts a last delimiter without dashes: %j', async (end) => {
    const body = Buffer.from(`--b\r\nContent-Disposition: form-data; name="key"\r\n\r\nx\r\n${end}`);
    expect((await historic(body)).fields).toEqual({ key: 'x' });
    await expect(read(body, 'b')).rejects.toMatchObject({ reason: 'form_malformed' });
  });

  test('accepts Content-Disposition: file for media', async () => {
    const body = part('Content-Disposition: file; name="media"; filename="a.png"', 'bytes');
    expect((await historic(body)).media?.toString()).toBe('bytes');
    const bare = part('Content-Disposition: file; name="media"', 'bytes');
    expect((await historic(bare)).media?.toString()).toBe('bytes');
    const text = part('Content-Disposition: file; name="key"');
    await expect(historic(text)).rejects.toMatchObject({ reason: 'form_malformed' });
  });

  test('refuses a form truncated elsewhere', async () => {
    const { body } = multipartForm(
      [
        { name: 'key', content: 'k' },
        { name: 'media', filename: 'f', content: 'bytes' },
      ],
      'b',
    );
    const whole = body.length - '--\r\n'.length;
    for (let cut = 0; cut < whole; cut++) {
      const endsInDelimiter = /\r\n--b(\r\n)?$/.test(body.toString('latin1', 0, cut));
      if (!endsInDelimiter)
        await expect(historic(body.subarray(0, cut)), `cut at ${cut}`).rejects.toMatchObject({
          reason: 'form_malformed',
        });
    }
  });
});

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['Multipart/Form-Data; charset=utf-8; BOUNDARY="a b\\"c"', 'a b"c'],
  ['multipart/form-data; boundary=----=_Part_1_2.3', '----=_Part_1_2.3'],
  ['multipart/form-data;boundary=x; charset=utf-8', 'x'],
  ['multipart/form-data, boundary=AaB03x', 'AaB03x'],
  ['multipart/form-data; boundary=a,b', 'a,b'],
  ['multipart/form-data; x="; boundary=C"; boundary=B', 'B'],
  [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
])('%s has a boundary', (contentType, boundary) => {
  expect(boundaryOf(contentType)).toBe(boundary);
});

test.each([
  [undefined, 'Content-Type must be multipart/form-data, but is missing.'],
  ['Text/plain; boundary=abc', 'Content-Type must be multipart/form-data, but is text/plain.'],
  ['multipart/mixed; boundary=abc', 'Content-Type must be multipart/form-data, but is multipart/mixed.'],
  ['<b>&amp;[x]</b>', 'Content-Type must be multipart/form-data, but is malformed.'],
])('%s is no form', (contentType, sentence) => {
  expect(() => boundaryOf(contentType)).toThrow(expect.objectContaining({ sentence }));
});

test.each([
  ['multipart/form-data'],
  ['multipart/form-data; boundary='],
  ['multipart/form-data; boundary=""'],
  [`multipart/form-data; boundary=${'x'.repeat(71)}`],
  ['multipart/form-data; boundary="a\u0001b"'],
  ['multipart/form-data; boundary=B; boundary=C'],
])('%s has no boundary', (contentType) => {
  const sentence = 'Content-Type has no valid boundary. Let the HTTP library write this header.';
  expect(() => boundaryOf(contentType)).toThrow(expect.objectContaining({ sentence }));
});
