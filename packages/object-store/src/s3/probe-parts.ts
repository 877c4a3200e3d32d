import type { StoreUnavailable } from '../object-store.ts';
import { partBytes } from '../part-size.ts';
import { joinedTag, type WrittenPart } from './multipart-requests.ts';
import { type ProbeObject, type ProbeObjects, probeBytes } from './probe-objects.ts';
import { OtherPartsJoined, PartsLost, responseError, StoreRefused } from './store-response.ts';
import { md5Of } from './write-rules.ts';

const other = Buffer.from('Another probe of this store.');
const MiB = 1024 * 1024;

/** Completes a multipart upload, and tries to complete one whose part was replaced. @returns what the store can, and the object of the first */
export async function probeParts(probe: ProbeObjects) {
  const upload = await probe.beginParts();
  const part = await upload.put(probeBytes);
  const tag = await upload.complete([part], probeBytes);
  const found = await probe.tagOf(upload.key);
  const hasMd5Tags = part.etag === md5Of([probeBytes]).toString('hex') && tag === joinedTag([part.etag]);
  probe.rules.adopt({ ...probe.rules.capabilities, hasMd5Tags });
  const late = await probe.beginParts();
  const first = await late.put(probeBytes);
  await late.put(other);
  const refusal = await late.refusalOf([first], probeBytes);
  if (refusal instanceof OtherPartsJoined)
    probe.notes.add('The store completes a multipart upload although a part was replaced: its response shows it.');
  const hasNamedPart = refusal === undefined && (await has(probe, late.key));
  if (hasNamedPart) probe.notes.add('The store keeps a part that was replaced, and joins the one that was named.');
  const joined: ProbeObject = { key: upload.key, etag: tag, size: probeBytes.length, parts: 1 };
  const hasFinalTags = found === 'unknown' || found === tag;
  return { can: { comparesParts: refusal !== undefined || hasNamedPart, hasMd5Tags, hasFinalTags }, joined };
}

/** Completes a multipart upload of parts of different sizes; if the store refuses that, one as uploads have it. @throws StoreUnavailable */
export async function probeUnequalParts(probe: ProbeObjects): Promise<void> {
  if (!((await joinSizes(probe, [5 * MiB, 5 * MiB + 1, 1])) instanceof StoreRefused)) return;
  const refusal = await joinSizes(probe, [partBytes, 1]);
  if (refusal) throw refusal;
  probe.notes.add('The store refuses parts of different sizes: all parts but the last have 8 MiB.');
}

async function joinSizes(probe: ProbeObjects, sizes: readonly number[]): Promise<StoreUnavailable | undefined> {
  const upload = await probe.beginParts();
  const parts: WrittenPart[] = [];
  const all = Buffer.alloc(sizes.reduce((sum, size) => sum + size, 0));
  for (const size of sizes) parts.push(await upload.put(all.subarray(0, size), parts.length + 1));
  return upload.refusalOf(parts, all);
}

/** Lists no multipart upload. gofakes3 refuses that until the first one in a bucket, so this comes before all others. */
export async function probeEmptyUploads(probe: ProbeObjects): Promise<void> {
  const { status, body } = await probe.get('', { query: { uploads: '', prefix: probe.newKey() } });
  if (responseError(status, body) instanceof PartsLost)
    probe.notes.add('The store responds with NoSuchUpload to a list of multipart uploads if there are none.');
}

/** Whether an object has the bytes of a probe; false without permission to read. */
async function has(probe: ProbeObjects, key: string): Promise<boolean> {
  const { status, body } = await probe.get(key);
  return status === 200 && body.equals(probeBytes);
}
