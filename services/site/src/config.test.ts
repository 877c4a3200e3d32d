import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const env = { REDIS_URL: 'redis://127.0.0.1', OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: '/tmp/store' };

test.each(['https://example.org/report?a=b', 'mailto:abuse@example.org'])('%s is a contact', (contact) => {
  expect(readConfig({ ...env, ABUSE_CONTACT: contact }).ABUSE_CONTACT).toBe(contact);
});

test.each([
  'abuse@example.org',
  'http://example.org',
  'javascript:alert(1)',
  'https://',
  'https:example.org',
  'mailto:',
  'https://example.org/ x',
])('%s is none', (contact) => {
  expect(() => readConfig({ ...env, ABUSE_CONTACT: contact })).toThrow(
    'ABUSE_CONTACT must be an address that begins with https: or mailto:',
  );
});
