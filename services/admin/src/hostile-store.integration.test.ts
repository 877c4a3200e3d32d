import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownerHash } from '@echodrop/archive/owner';
import { beginResumable, publishSample } from '@echodrop/archive/publish-sample.fixture';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { maxTextLengths, type StoredRecord } from '@echodrop/record';
import { builtService } from '@echodrop/testkit/built-service';
import { type HostileObject, type HostileStore, hostileStore } from '@echodrop/testkit/hostile/hostile-store';
import { patienceMs } from '@echodrop/testkit/patience';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { patchTus, sendTus } from '@echodrop/testkit/tus-requests';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readStoreConfig } from './config.ts';
import { inParallel, plantInFolder, plantInMinio } from './hostile-store.fixture.ts';

const seed = 45;
// C0 but line breaks, C1, directions and line separators.
const terminalControls = /[^\P{Cc}\n]|[\p{Bidi_Control}\u2028\u2029]/u;

type Plant = (stack: Stack, objects: readonly HostileObject[]) => Promise<unknown>;

/** Puts a hostile store before the real services and commands. `settings` are those of the store, if it is not the folder of the stack. */
function survivesHostileStore(
  start: (resources: AsyncDisposableStack) => Promise<{ settings: Record<string, string>; plant: Plant }>,
): void {
  const resources = new AsyncDisposableStack();
  let stack: Stack;
  let settings: Record<string, string>;
  let hostile: HostileStore;
  let store: ObjectStore;
  let good: StoredRecord[];
  let theirs: StoredRecord;
  let unfinished: string;
  let admin: string;

  beforeAll(async () => {
    const started = await start(resources);
    const services = ['sandbox-provider', 'auth-verifier', 'gateway', 'site', 'rendition-worker'] as const;
    stack = resources.use(await startStack({ services, settings: started.settings }));
    settings = { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: join(stack.folder, 'store'), ...started.settings };
    store = resources.use(await objectStoreFromSettings(readStoreConfig(settings)));
    await store.ready();
    admin = await builtService('admin');
    const owner = { provider: stack.provider, subject: `${sandbox.userId}` };
    const photo = await samplePhoto('jpg', { width: 64, height: 48 });
    const publish = (more: Partial<StoredRecord> = {}) =>
      publishSample(store, { ...owner, width: 64, height: 48, ...more }, photo);
    good = [await publish(), await publish({ type: 'webp' }), await publish()];
    theirs = await publish({ subject: 'another' });
    ({ id: unfinished } = await beginResumable(store, owner));
    const [{ id: mediaId = '', mediaKey: goodKey = '' } = {}, { mediaKey: webpKey = '' } = {}] = good;
    hostile = hostileStore(seed, {
      ...owner,
      owner: ownerHash(owner),
      mediaId,
      mediaKey: webpKey || goodKey,
      otherId: theirs.id,
      otherMediaKey: theirs.mediaKey,
      maxTextLengths,
    });
    await started.plant(stack, hostile.objects);
  });
  afterAll(() => resources.disposeAsync());

  /** Runs the real program. Whatever it prints is harmless to a terminal. */
  async function run(...args: string[]) {
    const ran = await execa(process.execPath, [admin, ...args], {
      env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...settings },
      extendEnv: false,
      reject: false,
      timeout: patienceMs,
      maxBuffer: 100_000_000,
    });
    const output = `${ran.stdout}\n${ran.stderr}`;
    expect(output, args.join(' ')).not.toMatch(terminalControls);
    expect(output, args.join(' ')).not.toMatch(/^ {4}at |Fatal|uncaught/im);
    expect([0, 1], `${args.join(' ')}: ${ran.stderr.slice(-500)}`).toContain(ran.exitCode);
    return ran;
  }
  // Each takes a process of its own.
  const someRecords = () => hostile.recordIds.filter((_, n) => n % 8 === 0);
  const owned = () => [stack.provider, `${sandbox.userId}`] as const;

  test('the site and the gateway respond to every request, and go on', async () => {
    const { site } = stack;
    const idsOfAll = [...hostile.recordIds, ...good.map(({ id }) => id)];
    const paths = idsOfAll.flatMap((id) => [
      ...[`/${id}`, `/${id}.jpg`, `/${id}/large.jpg`, `/${id}/player`, `/${id}/video.mp4`],
      `/oembed?url=${encodeURIComponent(`${site}/${id}`)}`,
    ]);
    const owners = new Set(hostile.objects.flatMap(({ key }) => /^by-user\/([0-9a-f]{32})\//.exec(key)?.[1] ?? []));
    await inParallel([...paths, ...[...owners].map((owner) => `/by/${owner}`)], async (path) => {
      const response = await fetch(`${site}${path}`, { redirect: 'manual', signal: AbortSignal.timeout(patienceMs) });
      await response.arrayBuffer();
      expect([200, 202, 302, 404, 410, 415, 500, 503], path).toContain(response.status);
    });

    const headers = () => echoHeaders(stack);
    const listed: string[] = [];
    for (let next: string | undefined = '', pages = 0; next !== undefined; pages += 1) {
      expect(pages).toBeLessThan(100);
      const response = await fetch(`${stack.gateway}/2/media.json?count=100${next && `&after=${next}`}`, {
        headers: headers(),
      });
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text.length).toBeLessThan(1.2 * 2 ** 20);
      const page = JSON.parse(text) as { media: { id: string }[]; next?: string };
      listed.push(...page.media.map(({ id }) => id));
      next = page.next;
    }
    for (const { id } of good) expect(listed).toContain(id);

    await inParallel(hostile.resumableIds, async (id) => {
      const path = `/files/${id}`;
      const responses = [
        await sendTus(stack, 'HEAD', path),
        await patchTus(stack, path, 3, Buffer.from('ab')),
        await sendTus(stack, 'DELETE', path),
      ];
      for (const { status } of responses)
        expect([200, 204, 400, 403, 404, 409, 410, 413, 415, 423, 429, 503], id).toContain(status);
    });
    await inParallel(hostile.recordIds, async (id) => {
      const response = await fetch(`${stack.gateway}/2/media/${id}`, { method: 'DELETE', headers: headers() });
      expect([204, 403, 404, 429, 500, 503], id).toContain(response.status);
    });

    const fresh = await upload(stack, { media: await samplePhoto('jpg', { width: 80, height: 60 }) });
    expect(fresh.status, fresh.text).toBe(200);
    for (const service of ['gateway', 'site', 'rendition-worker'] as const)
      expect((await fetch(`${stack.ops(service)}/readyz`)).status, service).toBe(200);
    await stack.metrics('gateway');
    for (const service of ['gateway', 'site', 'rendition-worker'] as const)
      expect(stack.services[service].output, service).not.toMatch(
        /"type":"(?:TypeError|RangeError|SyntaxError|URIError)"/,
      );
  });

  test('commands that read go on past what is unreadable, and exit with 1', async () => {
    for (const args of [['list'], ['list', ...owned()], ['list', '--count', '500'], ['blocks']]) {
      const { exitCode } = await run(...args);
      expect([args, exitCode]).toEqual([args, 1]);
    }
    for (const { id } of good) expect((await run('show', id)).exitCode).toBe(0);
    await inParallel(someRecords(), (id) => run('show', id));
    const verified = await run('verify-store', '--bytes');
    expect([verified.exitCode, verified.stdout]).toEqual([
      1,
      expect.stringMatching(/^Checked \d+ records: orphans not searched, \d+ faults\.$/m),
    ]);
    const dry = await run('sweep');
    expect([dry.exitCode, dry.stderr]).toEqual([1, expect.stringContaining('is unreadable')]);
  });

  test('exports write into their folder only, and contain every good upload', async () => {
    // Deep enough for keys that lead upwards. The folder of the stack changes meanwhile.
    const root = resources.use(await mkdtempDisposable(join(tmpdir(), 'hostile-export-'))).path;
    const into = join(root, 'a/b/c/d/e/ada');
    const { exitCode, stdout } = await run('export', ...owned(), into);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('record unreadable')]);
    const written = await readdir(root, { recursive: true });
    const inside = await readdir(into);
    const folders = ['a', 'a/b', 'a/b/c', 'a/b/c/d', 'a/b/c/d/e', 'a/b/c/d/e/ada'];
    expect(written.toSorted()).toEqual([...folders, ...inside.map((name) => `${folders.at(-1)}/${name}`)].toSorted());
    for (const name of inside) expect(name).toMatch(/^[0-9A-Za-z]{10}\.[a-z0-9]{1,8}$/);
    for (const { id, type } of good) expect(inside).toEqual(expect.arrayContaining([`${id}.json`, `${id}.${type}`]));
    await inParallel(someRecords(), (id) => run('export-upload', id, join(root, `evidence-${id}`)));
    const [{ id = '' } = {}] = good;
    expect((await run('export-upload', id, join(root, 'evidence'))).exitCode).toBe(0);
  });

  test('commands that change handle every good upload, and none of another user', async () => {
    for (const verb of ['block', 'unblock']) {
      expect((await run(`${verb}-user`, ...owned())).exitCode).toBe(0);
      expect((await run(`${verb}-application`, 'Birdsong')).exitCode).toBe(0);
    }
    expect((await run('rebuild-listings')).exitCode).toBe(1);
    const listed = await run('list', ...owned());
    for (const { id } of good) expect(listed.stdout).toContain(id);
    const swept = await run('sweep', '--yes');
    expect([swept.exitCode, swept.stderr]).toEqual([1, expect.stringContaining('is unreadable')]);
    const [first, ...others] = good;
    const removed = await run('remove', ...hostile.recordIds, first?.id ?? '');
    expect([removed.exitCode, removed.stdout]).toEqual([1, expect.stringContaining(`${first?.id}: deleted`)]);
    expect((await run('purge', ...owned())).exitCode).toBe(1);
    const purged = await run('purge', ...owned(), '--yes');
    expect(purged.exitCode).toBe(1);
    for (const { id } of others) expect(purged.stdout).toContain(`${id}: deleted`);
    expect(purged.stdout).toContain(`${unfinished}: unfinished, deleted`);
    const shown = await run('show', theirs.id);
    expect([shown.exitCode, shown.stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^media +${mediaObjectKey(theirs.mediaKey)}$`, 'm')),
    ]);
  });
}

describe('a folder in which every object is hostile', () => {
  survivesHostileStore(async () => ({ settings: {}, plant: plantInFolder }));
});

describeWithMinio('a MinIO in which every object is hostile', {}, (startMinio) => {
  survivesHostileStore(async (resources) => {
    const minio = resources.use(await startMinio());
    return { settings: minio.settings, plant: (_, objects) => plantInMinio(minio, objects) };
  });
});
