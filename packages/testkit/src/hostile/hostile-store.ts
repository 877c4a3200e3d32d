import { SeededRandom } from '../seeded-random.ts';
import { hostileBodies, hostileNames } from './hostile-values.ts';
import {
  changedFields,
  documentOf,
  type Fields,
  longFields,
  quoted,
  type Referenced,
  recordFields,
  stateFields,
  tombstoneFields,
  writeFields,
} from './stored-fields.ts';

export interface HostileObject {
  readonly key: string;
  readonly body: Buffer;
}

export interface HostileStore {
  readonly objects: readonly HostileObject[];
  /** The media ids of hostile records and tombstones. */
  readonly recordIds: readonly string[];
  /** The ids of hostile resumable uploads. */
  readonly resumableIds: readonly string[];
}

const base62 = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
const time = '"2026-11-21T11:36:34.567Z"';
const empty = Buffer.alloc(0);

/** Objects of every kind as a service that was taken over may write them: shapes, values and keys that no release of Echodrop writes. */
export function hostileStore(seed: number, referenced: Referenced): HostileStore {
  const random = new SeededRandom(seed);
  const newId = () => Array.from({ length: 10 }, () => random.pick(base62)).join('');
  const objects: HostileObject[] = [];
  const recordIds: string[] = [];
  const resumableIds: string[] = [];
  const addRecord = (bodyOf: (id: string) => Buffer) => {
    const id = newId();
    recordIds.push(id);
    objects.push({ key: `records/${id}.json`, body: bodyOf(id) });
    // As for any upload. Also under a wrong time, and for another owner.
    for (const left of ['8205000000000', '0000000000000', '9999999999999'])
      for (const folder of ['by-time', `by-user/${referenced.owner}`, `by-user/${random.hex(32)}`])
        if (random.happens(0.2)) objects.push({ key: `${folder}/${left}-${id}`, body: empty });
  };
  const addState = (bodyOf: (id: string) => Buffer, name = '0.json') => {
    const id = random.hex(32);
    resumableIds.push(id);
    objects.push({ key: `resumable/${id}/${name}`, body: bodyOf(id) });
  };
  const addBlock = (kind: 'users' | 'applications', body: Buffer) =>
    objects.push({ key: `blocks/${kind}/${random.hex(32)}`, body });
  const changed = (fields: Fields) => [
    ...changedFields(fields, random),
    ...longFields(fields, referenced.maxTextLengths),
  ];

  for (const fields of changed(recordFields(referenced, random)))
    addRecord((id) => documentOf({ id: quoted(id), ...fields }));
  for (const fields of changed(tombstoneFields(referenced, random)))
    addRecord((id) => documentOf({ id: quoted(id), ...fields }));
  // The id of another record, twice the same field, and the media of another upload.
  for (const id of ['../../x/', referenced.mediaId, '__proto__'])
    addRecord(() => documentOf({ ...recordFields(referenced, random), id: quoted(id), type: '"bashrc"' }));
  addRecord((id) =>
    Buffer.from(`{"id":"../../x/",${documentOf({ ...recordFields(referenced, random), id: quoted(id) }).subarray(1)}`),
  );
  for (const fields of changed(stateFields(referenced, random))) addState(() => documentOf(fields));
  for (const write of changed(writeFields(random)))
    addState(() => documentOf({ ...stateFields(referenced, random), write: documentOf(write).toString() }));
  const theirs = `records/${referenced.otherId}.json`;
  const writes: Fields[] = [
    { key: quoted(theirs) },
    { key: quoted(`media/${referenced.otherMediaKey}`) },
    { tails: `[{"key":${quoted(theirs)},"size":1,"before":"00000000"}]` },
    { id: '"../objects/records"', size: '1000000000000' },
    { parts: `[${Array.from({ length: 20_000 }, () => '{"etag":"a","crc32":"AAAAAA=="}').join(',')}]` },
  ];
  for (const write of writes)
    addState(() =>
      documentOf({
        ...stateFields(referenced, random),
        write: documentOf({ ...writeFields(random), ...write }).toString(),
      }),
    );
  for (const fields of changed({ kind: '"user"', provider: quoted(referenced.provider), subject: '"1"', since: time }))
    addBlock('users', documentOf(fields));
  for (const fields of changed({ kind: '"application"', name: '"Birdsong"', since: time }))
    addBlock('applications', documentOf(fields));
  for (const [, body] of hostileBodies()) {
    addRecord(() => body);
    addState(() => body);
    addBlock('users', body);
  }
  for (const name of ['000000005.json', '999999999.json', '-1.json', `tail-${random.hex(32)}`, 'tail-x'])
    addState(() => documentOf(stateFields(referenced, random)), name);
  objects.push({ key: 'reports/sweep.json', body: Buffer.from('['.repeat(100_000)) });
  return { objects: [...objects, ...oddObjects(referenced, random)], recordIds, resumableIds };
}

/** Objects with odd keys in every folder, and renditions and notes that are none. */
function oddObjects({ owner, mediaKey }: Referenced, random: SeededRandom): HostileObject[] {
  const hash = random.hex(32);
  const folders = [
    'records',
    'media',
    `media/${hash}`,
    'renditions',
    `renditions/${mediaKey}`,
    `renditions/${hash}`,
    'resumable',
  ];
  folders.push(
    `resumable/${random.hex(32)}`,
    'by-time',
    'by-user',
    `by-user/${owner}`,
    'blocks/users',
    'blocks/applications',
    'reports',
  );
  const odd = folders.flatMap((folder) =>
    hostileNames.map((name) => ({ key: `${folder}/${name}`, body: Buffer.from(name) })),
  );
  const deep = folders.map((folder) => ({ key: `${folder}/${'d/'.repeat(60)}x`, body: empty }));
  const entry = '8205000000000-aaaaaaaaaa';
  const entries = ['by-time/x', 'by-user/x', `by-user/${owner}/x`, 'by-user/\u001b[31m'].map((folder) => ({
    key: `${folder}/${entry}`,
    body: empty,
  }));
  // The site reads the flags of an animated WebP behind this mark.
  const picture = Buffer.from('RIFFxxxxWEBPVP8X');
  const renditions = ['large-7.jpg', 'full-3.webp', 'full-3.jpg', 'thumb-4.jpg.broken-', 'mini-4.jpg.too_costly-0'].map(
    (name) => ({
      key: `renditions/${mediaKey}/${name}`,
      body: picture,
    }),
  );
  return [...odd, ...deep, ...entries, ...renditions];
}
