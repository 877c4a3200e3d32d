import { isPhoto, mediaTypes } from '@echodrop/media/detect-media-type';
import { expect, test } from 'vitest';
import { someRecord } from '../service.fixture.ts';
import { type CommandContext, print } from './command-context.ts';
import { showRecord } from './show-record.ts';

const url = 'http://site.example/a1B2c3D4e5';
const record = { ...someRecord, text: 'Sea [1] <b> "&"' };

test.each([
  ['url', url],
  ['markdown', `[![Sea \\[1\\] \\<b\\> "\\&"](${url}/large.jpg)](${url})`],
  ['html', `<a href="${url}"><img src="${url}/large.jpg" alt="Sea [1] &#60;b&#62; &#34;&#38;&#34;"></a>`],
] as const)('prints %s', (output, expected) => {
  expect(showRecord(record, output, undefined)).toBe(expected);
});

test('Markdown shows a caption as it was written, and links any address', () => {
  const unusual = { ...record, type: 'mp4', text: 'a ~~b~~ | c', url: 'http://site.example/photos_(sea)/a b' };
  const shown = '[a \\~\\~b\\~\\~ \\| c](http://site.example/photos_%28sea%29/a%20b)';
  expect(showRecord(unusual, 'markdown', undefined)).toBe(shown);
});

test('JSON has all digits of the user id', () => {
  expect(showRecord(record, 'json', undefined)).toContain('"user":{"id":1059182745930317825,"screen_name":"sandbox"}');
});

test('alternative text replaces the caption', () => {
  expect(showRecord(record, 'html', 'Two boats')).toContain('alt="Two boats"');
});

test('a video is a link, because it may have no picture yet', () => {
  const video = { ...record, type: 'mp4', text: 'Waves' };
  expect(showRecord(video, 'markdown', undefined)).toBe(`[Waves](${url})`);
  expect(showRecord(video, 'html', undefined)).toBe(`<a href="${url}">Waves</a>`);
});

test.each(mediaTypes)('shows a picture of %s if it is a photo', (type) => {
  expect(showRecord({ ...record, type }, 'html', undefined).includes('<img')).toBe(isPhoto(type));
});

test('control sequences and hidden characters do not reach a terminal', () => {
  const hostile = {
    ...record,
    url: 'http://site.example/\u001b[2J\u202e',
    text: 'a\u001b]0;b\u0007\u009b2J\u202e\u200b',
  };
  for (const output of ['url', 'markdown', 'html'] as const)
    expect(showRecord(hostile, output, undefined)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  // JSON keeps its value, and is escaped as it is printed.
  let printed = '';
  const stdout = { write: (text: string) => (printed += text) };
  print({ stdout } as unknown as CommandContext, showRecord(hostile, 'json', undefined));
  expect(printed).toMatch(/^[ -~]+\n$/);
  expect(JSON.parse(printed)).toMatchObject({ url: hostile.url, text: hostile.text });
});

test('Markdown and HTML keep the joiners of emoji and scripts, as references', () => {
  const video = { ...record, type: 'mp4', text: 'می\u200cخواهم' };
  expect(showRecord(video, 'html', undefined)).toContain('>می&#8204;خواهم</a>');
  expect(showRecord(video, 'markdown', undefined)).toContain('[می&#8204;خواهم]');
});
