import { StoreUnavailable } from '../object-store.ts';
import { type ProbeOptions, type StoreCapabilities, usualCapabilities } from '../store-capabilities.ts';
import { findChecksums } from './find-checksums.ts';
import { isListed, probePages } from './probe-lists.ts';
import { ProbeObjects, probeBytes } from './probe-objects.ts';
import { probeEmptyUploads, probeParts, probeUnequalParts } from './probe-parts.ts';
import type { SignedRequests, StoreResponse } from './signed-requests.ts';
import {
  ChecksumUnconfirmed,
  isForbidden,
  isOutage,
  OtherPartsJoined,
  responseError,
  StoreRefused,
} from './store-response.ts';
import { isConditionRefusal } from './write-rules.ts';

const races = { usual: 1, thorough: 20 };
const maxSkewMs = 5 * 60_000;

export interface ProbeResult {
  readonly found: StoreCapabilities;
  /** Whether the key may read media, which is required if not `confirmsByWrite`. */
  readonly canRead: boolean;
  /** Whether two conditional writes have both created an object. A lost response cannot look like that. */
  readonly hasTwoWinners: boolean;
}

/**
 * Finds out what a store does, by about 30 small requests with media keys of its own, whose objects it removes. What needs permission to read or
 * list media is skipped without.
 * @throws StoreUnavailable if the store refuses what has no replacement, does not return what it has just stored, or has another time
 */
export async function probeStore(
  requests: SignedRequests,
  { isThorough = false, signal }: ProbeOptions = {},
): Promise<ProbeResult> {
  await using probe = new ProbeObjects(requests, signal);
  if (isThorough) await inStep('a list of multipart uploads', probeEmptyUploads(probe));
  await inStep('a write', probeChecksums(probe));
  const { can, joined } = await joinParts(probe);
  const single = await inStep('a write', probe.put());
  await inStep('an empty object', probe.put(Buffer.alloc(0)));
  const { isConditional, ...again } = await writeAgain(probe, single.key);
  await inStep('reading an object', requireReadable(probe, single.key, isThorough));
  const hasImmediateLists = await inStep('a list', isListed(probe, single.key, isThorough));
  if (isThorough && hasImmediateLists) await inStep('the next page of a list', probePages(probe));
  const pairs = isThorough ? races.thorough : races.usual;
  const running = Array.from({ length: isConditional ? pairs : 0 }, () => race(probe));
  // Otherwise a test could still write after the removal of the objects.
  await Promise.allSettled(running);
  const runs = await Promise.all(running);
  const hasRepeatedWrites = [again, ...runs].every((run) => run.hasRepeatedWrites);
  const mayProve = isConditional && hasRepeatedWrites && can.hasFinalTags;
  const isProof = !mayProve || (await probe.areProved([single, joined]));
  const hasConditionalWrites = isConditional && isProof && runs.every(({ wins }) => wins === 1);
  const found = {
    ...usualCapabilities,
    checksums: probe.rules.capabilities.checksums,
    hasRepeatedWrites,
    hasConditionalWrites,
    hasImmediateLists,
    ...can,
  };
  if (isThorough) await inStep('a multipart upload', probeUnequalParts(probe));
  if (isThorough) await probeVersions(probe);
  // Whether two writes meet is chance: only many pairs show it.
  const notes = isThorough ? [...probe.notes].sort() : [];
  return { found: { ...found, notes }, canRead: probe.canRead, hasTwoWinners: runs.some(({ wins }) => wins > 1) };
}

/** @throws StoreUnavailable that names the step, if the store refuses it */
async function inStep<T>(name: string, step: Promise<T>): Promise<T> {
  return step.catch((error: unknown) => {
    if (!(error instanceof StoreRefused)) throw error;
    throw new StoreUnavailable(`object store refuses ${name}`, { cause: error });
  });
}

/** What the store verifies. Later writes carry it. */
async function probeChecksums(probe: ProbeObjects, isMd5Only = false): Promise<void> {
  const { checksums, hasOtherReason } = await findChecksums(probeBytes, isMd5Only, (headers) => probe.putWith(headers));
  if (hasOtherReason) probe.notes.add('The store gives another reason than a checksum when it refuses a wrong one.');
  probe.rules.adopt({ ...usualCapabilities, checksums });
}

/** Writes multipart uploads. If the store takes CRC-32 checksums only for objects, no write has one. */
async function joinParts(probe: ProbeObjects) {
  const join = () => probeParts(probe);
  const joined = join().catch(async (error: unknown) => {
    const isUnconfirmed = error instanceof ChecksumUnconfirmed || error instanceof OtherPartsJoined;
    if (!probe.rules.hasCrc32 || (isOutage(error) && !isUnconfirmed)) throw error;
    await probeChecksums(probe, true);
    return join();
  });
  return inStep('a multipart upload', joined);
}

/** Reads an object that was just written, as far as the permissions allow it, and compares the times. @throws StoreUnavailable */
async function requireReadable(probe: ProbeObjects, key: string, isRequired: boolean): Promise<void> {
  if ((await probe.tagOf(key)) === undefined)
    throw new StoreUnavailable('object store does not return an object that it has just stored');
  const whole = await probe.get(key);
  if (isForbidden(whole) && isRequired) throw responseError(whole.status, whole.body);
  if (!isForbidden(whole) && !(whole.status === 200 && whole.body.equals(probeBytes)))
    throw new StoreUnavailable('object store returns other bytes than it got');
  // Bytes that change on their way look like a store that verifies none.
  if (isForbidden(whole) && probe.rules.capabilities.checksums === 'none')
    throw new StoreUnavailable('object store verifies no writes, so its key needs permission to read media');
  const part = await probe.get(key, { headers: { range: 'bytes=2-6' } });
  if (!isForbidden(part) && !(part.status === 206 && part.body.equals(probeBytes.subarray(2, 7))))
    throw new StoreUnavailable('object store returns another range of an object than requested');
  const skewMs = Math.abs(Date.parse(`${part.headers['date']}`) - Date.now());
  if (!(skewMs < maxSkewMs))
    throw new StoreUnavailable('object store has another time than this machine, or sends none: correct its clock');
}

async function probeVersions(probe: ProbeObjects): Promise<void> {
  const { status, body } = await probe.get('', { query: { versioning: '' } });
  if (status === 200 && /<Status>Enabled</.test(body.toString()))
    probe.notes.add(
      'The bucket keeps versions: what Echodrop removes stays in it until a lifecycle rule deletes old versions.',
    );
}

/** What happens to a conditional write of an object that exists, directly after the first write. */
async function writeAgain(probe: ProbeObjects, key: string) {
  const response = await inStep('a conditional write', probe.putUnlessExists(key));
  const { status, earlier } = response;
  if (status >= 300 && status < 400)
    throw new StoreUnavailable(
      `object store responds to a conditional write of an existing object with ${status} instead of 412`,
    );
  if (status !== 200 && status !== 412) await requireUnconditional(probe, key, response);
  return { isConditional: status === 412, hasRepeatedWrites: !earlier.includes(429) };
}

/**
 * A refused condition counts as missing only if the store does the same write without. Not after 403 or 500: permissions can be given and
 * an outage ends, and until then the store's promises would be weaker without need. @throws StoreUnavailable
 */
async function requireUnconditional(probe: ProbeObjects, key: string, { status, body }: StoreResponse): Promise<void> {
  await inStep('a second write', probe.put(probeBytes, key));
  if (isConditionRefusal(status)) return;
  throw new StoreUnavailable('object store refuses a conditional write', { cause: responseError(status, body) });
}

/** Two conditional writes of a new object at once: how many created it, and what `writeAgain` says, which may come too late at a slow store. */
async function race(probe: ProbeObjects) {
  const key = probe.newKey();
  const both = await Promise.all([probe.putUnlessExists(key), probe.putUnlessExists(key)]);
  if (both.some(({ earlier }) => earlier.includes(409)))
    probe.notes.add('The store refuses one of two concurrent writes of an object with 409: it is repeated.');
  return {
    wins: both.filter(({ status }) => status === 200).length,
    hasRepeatedWrites: !both.some(({ earlier }) => earlier.includes(429)),
  };
}
