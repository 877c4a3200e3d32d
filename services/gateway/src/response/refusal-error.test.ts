import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type Reason,
  refusals,
  sentencesOf,
  unsupportedSentences,
} from '@echodrop/contracts/refusal-statuses-and-messages';
import { expect, test } from 'vitest';
import { refusalResponses } from '../openapi/openapi-refusals.ts';

const reasons = Object.keys(refusals) as Reason[];

// Old clients split responses at brackets, or decode HTML entities before they parse.
test.each(reasons)('%s has plain messages, the same in XML and JSON', (reason) => {
  for (const sentence of sentencesOf(reason)) {
    expect(sentence).toMatch(/^[A-Za-z`][A-Za-z0-9 ,.;:/{}_'`+-]+\.$/);
    expect(sentence.length).toBeLessThan(200);
  }
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
