import { expect, test } from 'vitest';
import { html } from './html.ts';

test('a value is text, in an element and in an attribute', () => {
  const value = `"><script>alert('&')</script>`;
  const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;';
  expect(html`<p title="${value}">${value}</p>`.toString()).toBe(`<p title="${escaped}">${escaped}</p>`);
});

test('what html made goes in as it is, also in lists; undefined is left out', () => {
  const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
  expect(html`<ul>${items}</ul>${undefined}${7}`.toString()).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>7');
});

test('an object that only looks like markup is escaped', () => {
  const lookalike = { toString: () => '<b>' } as never;
  expect(html`${[lookalike]}${lookalike}`.toString()).not.toContain('<b>');
});
