import { expect, test } from 'vitest';
import { linkedText } from './linked-text.ts';

function addressesIn(text: string): (string | undefined)[] {
  const links = linkedText(text)
    .toString()
    .matchAll(/<a href="([^"]*)" rel="nofollow ugc noopener" dir="ltr">([^<]*)<\/a>/g);
  return [...links].map(([, address]) => address);
}

test('links web addresses and escapes the rest', () => {
  expect(linkedText('See https://a.example/b?c=1&d=2, <b>or</b> http://c.example.').toString()).toBe(
    'See <a href="https://a.example/b?c=1&amp;d=2" rel="nofollow ugc noopener" dir="ltr">https://a.example/b?c=1&amp;d=2</a>, &lt;b&gt;or&lt;/b&gt; <a href="http://c.example" rel="nofollow ugc noopener" dir="ltr">http://c.example</a>.',
  );
});

test('removes direction marks', () => {
  expect(linkedText('a\u202eb https://a.example/x\u202egpj.exe \u2067c').toString()).not.toMatch(
    /[\u202a-\u202e\u2066-\u2069]/,
  );
});

test.each([
  ['(https://en.example/wiki/A_(b))', 'https://en.example/wiki/A_(b)'],
  ['HTTPS://A.example/', 'HTTPS://A.example/'],
  ['javascript:https://a.example/', 'https://a.example/'],
  ['https://bücher.example/ä', 'https://bücher.example/ä'],
])('%s links to %s', (text, address) => {
  expect(addressesIn(text)).toEqual([address]);
});

test.each([
  'javascript:alert(1)',
  'data:text/html,<script>',
  'vbscript:x',
  'ftp://a.example/',
  'mailto:a@b.example',
  '//a.example/x',
  'a@b.example',
  'It was good.It is late',
  'www.a.example',
  'file:///etc/passwd',
])('%s contains no link', (text) => {
  expect(linkedText(text).toString()).not.toContain('<a ');
});

test('links only addresses within the first 8192 characters', () => {
  const address = 'https://a.example/long';
  const before = 'a '.repeat((8192 - address.length) / 2);
  expect(addressesIn(`${before}${address} https://b.example/`)).toEqual([address]);
  expect(addressesIn(`a${before}${address} https://b.example/`)).toEqual([]);
});

test.each(['http://', 'http://a.b ', 'https://a.example/(', 'http://a.', 'https://a.example/"\'', 'a@', ':', '[({<'])(
  'parses 64 KiB of %s quickly',
  (part) => {
    const before = process.cpuUsage();
    linkedText(part.repeat(65_536 / part.length));
    const { user, system } = process.cpuUsage(before);
    expect(user + system).toBeLessThan(1_000_000);
  },
);
