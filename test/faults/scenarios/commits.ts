import type { Fate, SeenRequest } from '@echodrop/testkit/servers/counting-proxy';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { onDispose } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';
import { decideRequests, isEntryPut, isRecordPut } from '../store-requests.ts';

/** Faults between the writes of a record and its listing entries. */
export const commitScenarios: readonly Scenario[] = [
  {
    name: 'commit responses cut',
    breaks: 'half of the responses to writes of records and listing entries are cut after the store has written',
    forSeconds: 6,
    isShort: true,
    begin: ({ system, random, broke }) => {
      broke();
      return decideRequests(system, (request) =>
        (isRecordPut(request) || isEntryPut(request)) && random.happens(0.5) ? 'lost' : 'passes',
      );
    },
  },
  {
    name: 'commits without a response',
    breaks: 'no write of a record gets a response, and no listing entry is written, until the gateway gives up',
    forSeconds: 25,
    begin: ({ system, broke }) => {
      broke();
      return decideRequests(system, withoutEntries);
    },
  },
  {
    name: 'gateway dies between record and lists',
    breaks:
      'SIGKILL of the gateway once the store has a record without listing entries; the client repeats with its key',
    forSeconds: 0,
    isShort: true,
    begin: dieBetween,
  },
  {
    name: 'commit responses late',
    breaks: 'every write of a record takes 6 s, including its response',
    forSeconds: 15,
    begin: ({ system, broke }) => {
      broke();
      return decideRequests(system, (request) => (isRecordPut(request) ? { afterMs: 6000 } : 'passes'));
    },
  },
  {
    name: 'commits twice and overtaken',
    breaks: 'writes of records arrive twice, late, or after the next one',
    forSeconds: 10,
    begin: ({ system, random, broke }) => {
      broke();
      return decideRequests(system, (request) =>
        isRecordPut(request) ? random.pick(['twice', 'overtaken', 'passes'] as const) : 'passes',
      );
    },
  },
];

const deaths = 3;
const maxTries = 40;

// Retries, because the first record may belong to another upload: measured, two of ten to three of seven tries hit.
async function dieBetween(day: GameDay): Promise<AsyncDisposable> {
  let hits = 0;
  for (let tries = 0; hits < deaths && tries < maxTries; tries += 1) if (await dieOnce(day)) hits += 1;
  if (hits < deaths) day.note('the gateway did not die between record and lists of its upload', `${hits} of ${deaths}`);
  return onDispose(() => {});
}

/** @returns whether the record belongs to the upload with a key */
async function dieOnce({ system, load, broke }: GameDay): Promise<boolean> {
  system.takeSeen();
  const written: string[] = [];
  let sending: Promise<{ readonly id?: string }>;
  {
    await using _lost = await decideRequests(system, withoutEntries);
    sending = load.send({ kind: 'jpg', isKeyed: true });
    await waitUntil('a written record', async () => {
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
