import type { Fate, SeenRequest } from '@echodrop/testkit/servers/counting-proxy';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { onDispose } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';
import { decided, isEntryPut, isRecordPut } from '../store-requests.ts';

/** What may happen between a record and the lists that it is in. */
export const commitScenarios: readonly Scenario[] = [
  {
    name: 'commit answers cut',
    breaks:
      'half of the answers to writes of records, and to writes of list entries, are cut after the store has written',
    forSeconds: 6,
    isShort: true,
    begin: ({ system, random, broke }) => {
      broke();
      return decided(system, (request) =>
        (isRecordPut(request) || isEntryPut(request)) && random.happens(0.5) ? 'lost' : 'passes',
      );
    },
  },
  {
    name: 'commits without an answer',
    breaks: 'for longer than a commit is tried, no write of a record is answered, and no list entry is written',
    forSeconds: 25,
    begin: ({ system, broke }) => {
      broke();
      return decided(system, withoutEntries);
    },
  },
  {
    name: 'gateway dies between record and lists',
    breaks:
      'SIGKILL of the gateway when the store has a record and no list entry of it; the client repeats with its key',
    forSeconds: 0,
    isShort: true,
    begin: dieBetween,
  },
  {
    name: 'commit answers late',
    breaks: 'every write of a record takes 6 s, for its arrival and its answer',
    forSeconds: 15,
    begin: ({ system, broke }) => {
      broke();
      return decided(system, (request) => (isRecordPut(request) ? { afterMs: 6000 } : 'passes'));
    },
  },
  {
    name: 'commits twice and overtaken',
    breaks: 'writes of records arrive twice, late, or behind the next one',
    forSeconds: 10,
    begin: ({ system, random, broke }) => {
      broke();
      return decided(system, (request) =>
        isRecordPut(request) ? random.pick(['twice', 'overtaken', 'passes'] as const) : 'passes',
      );
    },
  },
];

const deaths = 3;
const maxTries = 10;

// Until it has met so many uploads that repeat with a key: the record may be that of another upload.
async function dieBetween(day: GameDay): Promise<AsyncDisposable> {
  let met = 0;
  for (let tries = 0; met < deaths && tries < maxTries; tries += 1) if (await dieOnce(day)) met += 1;
  if (met < deaths) day.note('the gateway did not die between record and lists of its upload', `${met} of ${deaths}`);
  return onDispose(() => {});
}

/** @returns whether the record was that of the upload with a key */
async function dieOnce({ system, load, broke }: GameDay): Promise<boolean> {
  system.takeSeen();
  const written: string[] = [];
  let sending: Promise<{ readonly id?: string }>;
  {
    await using _lost = await decided(system, withoutEntries);
    sending = load.send({ kind: 'jpg', isKeyed: true });
    await waitUntil('a record', 10_000, async () => {
      const seen = system.takeSeen().filter((request) => isRecordPut(request) && request.status === 200);
      written.push(...seen.map(({ path }) => path));
      return written.length > 0;
    });
    await system.servers.gateway?.kill();
    broke();
  }
  await system.servers.gateway?.restart();
  const { id } = await sending;
  return written.some((path) => path.endsWith(`/${id}.json`));
}

function withoutEntries(request: SeenRequest): Fate {
  if (isEntryPut(request)) return 'cut';
  return isRecordPut(request) ? 'lost' : 'passes';
}
