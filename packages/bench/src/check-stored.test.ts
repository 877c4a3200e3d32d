import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { faultsOf } from './check-stored.ts';
import { bytesOf, type Media } from './media.ts';
import type { StoredObject } from './stand-ins/stored-objects.ts';

const described = { width: 4, height: 3, size: 2_500_000, type: 'jpg' };

/** A sample, and the objects of a successful upload of it in parts of this size. */
async function uploaded(partBytes: number) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'bench-test-'));
  const path = join(folder.path, 'a.jpg');
  await writeFile(path, 'a photo');
  const media: Media = { name: 'a photo', path, ...described, type: 'jpg' };
  const bytes = Buffer.concat(bytesOf(media));
  const parts = [];
  for (let at = 0; at < bytes.length; at += partBytes) {
    const part = bytes.subarray(at, at + partBytes);
    parts.push({ size: part.length, crc: crc32(part) });
  }
  const stored: StoredObject = { key: 'media/k', parts };
  const text = JSON.stringify({ id: 'i', media_key: 'k', ...described });
  const record: StoredObject = { key: 'records/i.json', parts: [], text };
  const responses = [{ status: 200, body: JSON.stringify({ id: 'i', ...described }) }];
  const faults = (objects: readonly StoredObject[], received = responses) =>
    faultsOf('echodrop', media, { latenciesMs: [], responses: received }, objects);
  const entries = ['by-user/o/1-i', 'by-time/1-i'].map((key): StoredObject => ({ key, parts: [] }));
  return { stored, record, entries, faults, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test.each([1_000_000, 2_500_000])('a successful upload in parts of %i bytes has no faults', async (partBytes) => {
  await using upload = await uploaded(partBytes);
  expect(upload.faults([upload.stored, upload.record, ...upload.entries])).toEqual([]);
});

test('wrong bytes, wrong records and missing ones are faults', async () => {
  await using upload = await uploaded(1_000_000);
  const { stored, record, entries, faults } = upload;
  const [first, ...rest] = stored.parts;
  const swapped = { ...stored, parts: [...rest, ...(first ? [first] : [])] };
  expect(faults([swapped, record, ...entries])).toEqual(['wrong bytes in media/k']);
  expect(faults([{ ...stored, parts: rest }, record, ...entries])).toEqual(['wrong bytes in media/k']);
  const wrong = { ...record, text: record.text?.replace('"width":4', '"width":5') ?? '' };
  expect(faults([stored, wrong, ...entries])).toEqual([expect.stringContaining('wrong records/i.json')]);
  expect(faults([stored, record])).toEqual(['by-user/', 'by-time/'].map((list) => `0 entries in ${list} of 1 uploads`));
  expect(faults([stored])).toContain('0 records of 1 uploads');
  expect(faults([record])).toContain('0 media of 1 uploads');
  expect(faults([stored, record], [{ status: 503, body: '' }])).toContain('503 ');
});
