import { expect, test } from 'vitest';
import { html } from './html.ts';

test('escapes values in elements and attributes', () => {
  const value = `"><script>alert('&')</script>`;
  const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;';
  expect(html`<p title="${value}">${value}</p>`.toString()).toBe(`<p title="${escaped}">${escaped}</p>`);
});

test('inserts other html and lists of it, and omits undefined', () => {
  const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
  expect(html`<ul>${items}</ul>${undefined}${7}`.toString()).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>7');
});

test('escapes objects that look like markup', () => {
  const lookalike = { toString: () => '<b>' } as never;
  expect(html`${[lookalike]}${lookalike}`.toString()).not.toContain('<b>');
});
