import { expect, test } from 'vitest';
import { openBrowser } from './open-browser.ts';

test.each(['file:///tmp/a.desktop', 'mailto:a@b.example', '--help', ''])('does not open %j', (address) => {
  expect(() => openBrowser(address, {})).toThrow('must be an http(s) URL');
});
