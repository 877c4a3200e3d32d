import { expect, test } from 'vitest';
import { securityTxt } from './security-txt.ts';

const dayMs = 24 * 3_600_000;

test.each(['2026-01-01T00:00:00Z', '2026-08-31T23:59:59Z', '2027-12-31T12:00:00Z', '2028-02-29T00:00:00Z'])(
  'security.txt of %s has both required fields and expires in the future, in less than a year',
  (time) => {
    const now = new Date(time);
    const [, contact, expires = ''] =
      /^Contact: (.+)\nExpires: (.+)\n$/.exec(securityTxt('mailto:a@b.example', now)) ?? [];
    expect(contact).toBe('mailto:a@b.example');
    const days = (new Date(expires).getTime() - now.getTime()) / dayMs;
    expect(days).toBeGreaterThan(150);
    expect(days).toBeLessThan(190);
  },
);

test('the contact is ASCII, as a URI', () => {
  expect(securityTxt('https://bücher.example/ü', new Date())).toContain(
    'Contact: https://xn--bcher-kva.example/%C3%BC\n',
  );
});
