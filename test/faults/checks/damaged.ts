import { createHash } from 'node:crypto';
import { mediaObjectKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { LedgerEntry } from '../ledger.ts';
import type { System } from '../start-system.ts';
import { type Finding, findEach } from './finding.ts';
import { bytesOf, keysBelow, type RecordInStore } from './stored-records.ts';

/** The finding for a rendition that is not retried for an hour. */
export const postponed = 'two workers crashed with its rendition; no retry for an hour';

const renditionMs = 60_000;

/** Finds acknowledged uploads whose record, bytes, page or renditions are missing or wrong. */
export function findDamaged(
  system: System,
  acknowledged: readonly LedgerEntry[],
  records: ReadonlyMap<string, RecordInStore>,
): Promise<Finding[]> {
  return findEach(acknowledged, async (entry) => {
    const record = records.get(entry.id ?? '');
    const what = record
      ? ((await damageOf(system, entry, record)) ?? (await presentationFault(system, entry, record)))
      : 'record missing';
    return what === undefined ? [] : [{ scenario: entry.scenario, what, which: `${entry.id} ${entry.text}` }];
  });
}

async function damageOf(
  { store }: System,
  { text, sha256, size }: LedgerEntry,
  record: RecordInStore,
): Promise<string | undefined> {
  if (record.text !== text) return 'the record belongs to another upload';
  if (record.size !== size) return `the record has ${record.size} bytes, but ${size} were sent`;
  const bytes = await bytesOf(store, mediaObjectKey(record.media_key));
  if (bytes === undefined) return 'media missing';
  return createHash('sha256').update(bytes).digest('hex') === sha256 ? undefined : 'media differs from what was sent';
}

async function presentationFault(system: System, { id, text, kind }: LedgerEntry, record: RecordInStore) {
  const page = await fetch(`${system.site}/${id}`);
  const shown = await page.text();
  if (page.status !== 200 || !shown.includes(text)) return `page not shown (${page.status})`;
  const rendition = kind === 'mp4' ? 'video.mp4' : 'large.jpg';
  let status = 0;
  const isMade = await waitUntil(
    'a rendition',
    async () => {
      const response = await fetch(`${system.site}/${id}/${rendition}`);
      await response.body?.cancel();
      status = response.status;
      return status === 200 || status === 404 || status === 415;
    },
    renditionMs,
  ).then(
    () => status === 200,
    () => false,
  );
  if (isMade) return undefined;
  const stored = await keysBelow(system.store, renditionsPrefixOf(record.media_key));
  const names = stored.map((key) => key.slice(key.lastIndexOf('/') + 1));
  if (names.some((name) => /\.suspected-/.test(name))) return postponed;
  const logged = system.services
    .flatMap(({ server }) => server.output.split('\n').filter((line) => line.includes(record.media_key)))
    .slice(-3);
  return `rendition ${rendition} missing (${status}; stored: ${names.join(' ')}; logged: ${logged.join(' ')})`;
}
