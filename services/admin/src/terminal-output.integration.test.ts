import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { recordKey } from '@echodrop/object-store/object-keys';
import { encodeStoredRecord, newMediaId } from '@echodrop/record';
import { hostileText } from '@echodrop/testkit/hostile/hostile-request';
import { expect, test } from 'vitest';
import { runCommand, useDataDir } from './admin.fixture.ts';

const dataDir = useDataDir();
const provider = `https://id.example/${hostileText}`;
const subject = `\u001b]0;x\u0007\n${hostileText}`;

/** Fills every text of the store that a hijacked service could write, and names of objects. */
async function fillStore(): Promise<string> {
  const { store } = dataDir;
  const record = await publishSample(store, { text: subject, alt: subject, provider, subject, application: subject });
  const text = encodeStoredRecord(record).toString();
  const plant = async (key: string, content: string) => {
    const path = join(dataDir.folder, 'store/objects', key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  };
  await store.put(recordKey(newMediaId()), Readable.from([Buffer.from(text.replace(record.id, hostileText))]));
  await store.put(recordKey(newMediaId()), Readable.from([Buffer.from(`{"version":"${hostileText}"}`)]));
  for (const folder of ['records', 'media', 'resumable', 'listings', 'blocks/users', `renditions/${record.mediaKey}`])
    await plant(`${folder}/\u001b[31m${hostileText}.json`, hostileText);
  return record.id;
}

test('no command writes a character that a terminal obeys', async () => {
  const id = await fillStore();
  const env = { DATA_DIR: dataDir.folder };
  const one = [['list'], ['sweep'], ['blocks'], ['rebuild-listings'], [hostileText]];
  const user = ['list', 'block-user', 'purge', 'forget'].map((name) => [name, provider, subject]);
  const commands = [
    ...one,
    ...user,
    ['show', id],
    ['show', subject],
    ['remove', hostileText],
    ['verify-store', '--bytes'],
    ['block-application', subject],
    ['blocks'],
    ['show', id],
    ['export', provider, subject, join(dataDir.folder, hostileText)],
    ['provider-test', hostileText],
    ['unblock-user', provider, subject],
    ['purge', provider, subject, '--yes'],
    ['list', `--${hostileText}`],
    ['list', '--after', hostileText],
    ['list', '--count', hostileText],
  ];
  const written: string[] = [];
  for (const command of commands) {
    const { stdout, stderr } = await runCommand(command, env);
    expect(`${stdout}${stderr}`, command[0]).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    written.push(stdout, stderr);
  }
  // The same text, escaped.
  expect(written.filter((text) => text.includes('\\u009b31m\\u202e')).length).toBeGreaterThan(10);
});
