import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { OwnerBusy } from '@echodrop/contracts/probe';
import {
  messagesOf,
  type Reason,
  refusals,
  unsupportedSentences,
} from '@echodrop/contracts/refusal-statuses-and-messages';
import { CrowdedOut } from '@echodrop/object-store/object-store';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { refusalResponses } from '../openapi/refusals.ts';
import { asRefusal, Refusal } from './refusal-error.ts';

const reasons = Object.keys(refusals) as Reason[];

// Old clients split XML at angle brackets, or decode HTML entities before they parse.
test.each(reasons)('%s has plain messages, the same in XML and JSON', (reason) => {
  for (const sentence of messagesOf(reason)) {
    expect(sentence).toMatch(/^[A-Za-z`][A-Za-z0-9 ,.;:/{}()_'`+-]+\.$/);
    expect(sentence.length).toBeLessThan(200);
  }
});

test('a message repeats nothing of a request but plain text', () => {
  const values = fc.record({ name: fc.string({ unit: 'binary', maxLength: 300 }), received: fc.string() });
  fc.assert(
    fc.property(values, (each) => {
      const { sentence } = new Refusal('parameter_missing', { message: 'absent', values: each });
      expect(sentence).toMatch(
        /^Missing parameter: [A-Za-z0-9 ,.;:/_'`+-]{1,200}\. Received: [A-Za-z0-9 ,.;:/_'`+-]{1,200}\.$/,
      );
    }),
  );
});

test.each([
  ['other uploads of the user take the memory', new CrowdedOut('', true), 'too_many_requests'],
  ['other probes of the user take the time', new OwnerBusy(), 'too_many_requests'],
  ['all uploads take the memory', new CrowdedOut('', false), 'overloaded'],
  ['no probe ends in time', new QueueUnavailable(), 'unavailable'],
])('if %s, an upload is refused with its own reason', (_what, error, reason) => {
  expect(asRefusal(error).reason).toBe(reason);
});

test('each reason for unsupported media has its own message', () => {
  const sentences = Object.values(unsupportedSentences);
  expect(new Set(sentences).size).toBe(sentences.length);
  for (const sentence of sentences) expect(refusalResponses['Refused415']?.description).toContain(sentence);
});

test('the docs list every reason with its message', async () => {
  const page = await readFile(resolve(import.meta.dirname, '../../../../docs/reference/media.md'), 'utf8');
  const section = page.split('\n## What is refused')[1]?.split('\n## ')[0] ?? '';
  const listed = section.matchAll(/^\| `(\w+)` \| (.+?) \|/gm).map(([, why = '', sentence]) => [why, sentence]);
  expect(Object.fromEntries(listed)).toEqual(unsupportedSentences);
});
