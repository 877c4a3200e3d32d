import { minioStore } from '@echodrop/object-store/s3/minio-store.fixture';
import { runAdmin } from '@echodrop/testkit/admin-of';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { createTus, hasLease, patchAndCut, patchTus, sendTus } from '@echodrop/testkit/tus-requests';
import { echoHeaders, upload, uploadRequest } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, describe, expect, type TestOptions, test } from 'vitest';
import { type RunningStore, startStore } from './start-store.ts';
import type { StoreKind } from './store-kind.ts';

const MiB = 1024 * 1024;

/** Tests of a whole system on a store. Without the store they are skipped, or fail if REQUIRE_STORES names it. */
export async function describeStore(kind: StoreKind): Promise<void> {
  const command = await kind.find();
  describe(kind.name, unlessMissing(kind, command !== undefined), () => {
    const parts = new AsyncDisposableStack();
    let store: RunningStore;
    let stack: Stack;
    let photo: Buffer;
    let video: Buffer;
    beforeAll(async () => {
      store = parts.use(await startStore(kind, command ?? ['']));
      photo = await samplePhoto('jpg', { width: 640, height: 480 });
      // A short clip, then a box of free space: together three parts.
      const short = await sampleVideo('mp4', { width: 320, height: 240 });
      video = Buffer.concat([short, Buffer.from('\x01\x40\x00\x00free', 'latin1'), Buffer.alloc(20 * MiB - 8)]);
    });
    afterAll(() => parts.disposeAsync());

    const admin = (...args: readonly string[]) => runAdmin(store.settings, ...args);
    const statusOf = async (address: string) => (await fetch(address)).status;
    const readyz = () => statusOf(`${stack.ops('gateway')}/readyz`);

    async function uploaded(media: Buffer): Promise<string> {
      const { status, text } = await upload(stack, { media });
      expect([status, text]).toEqual([200, expect.stringContaining('"id"')]);
      return JSON.parse(text).id;
    }

    async function listOwn(query = ''): Promise<{ media: { id: string }[]; next?: string }> {
      const response = await fetch(`${stack.gateway}/2/media.json${query}`, { headers: echoHeaders(stack) });
      expect(response.status).toBe(200);
      return (await response.json()) as { media: { id: string }[]; next?: string };
    }

    const idsOfOwn = async () => (await listOwn('?count=50')).media.map(({ id }) => id);

    /** Services create no bucket that was there before. */
    async function createBucket(): Promise<void> {
      await using creating = minioStore(store.bucket);
      await creating.ready();
    }

    async function countUnfinished(): Promise<number> {
      await using reading = minioStore(store.bucket);
      return (await Array.fromAsync(reading.listUnfinishedWrites())).length;
    }

    /** Sends a form but its end, and waits until the store has a part of it. */
    async function beginForm() {
      const before = await countUnfinished();
      const { path, headers, body } = uploadRequest(stack, { media: video });
      const client = await RawClient.connect(stack.gateway);
      client.head(path, headers, body.length);
      await client.flush(body.subarray(0, -1000));
      await expect.poll(countUnfinished).toBe(before + 1);
      const end = async () => {
        client.write(body.subarray(-1000));
        return (await client.response()).status;
      };
      return { end, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
    }

    /** Begins a resumable upload of the video. @returns its path */
    async function beginResumable(): Promise<string> {
      const { status, headers } = await createTus(stack, video.length);
      expect(status).toBe(201);
      return `${headers.get('location')}`;
    }

    async function offsetOf(path: string): Promise<number> {
      const { status, headers } = await sendTus(stack, 'HEAD', path);
      expect(status).toBe(200);
      return Number(headers.get('upload-offset'));
    }

    const sendPiece = (path: string, from: number, to?: number) =>
      patchTus(stack, path, from, video.subarray(from, to) as RequestInit['body'], { Prefer: 'return=representation' });

    test('store-test names each habit', async () => {
      const output = await admin('store-test').catch(({ stdout }: { stdout: string }) => stdout);
      const { findings = [], possibleFindings = [] } = kind;
      const isPossible = (line: string) => possibleFindings.some((each) => line.startsWith(each));
      const other = output.split('\n').filter((line) => !line.startsWith('ok ') && !isPossible(line));
      expect(other).toEqual(findings.map((each) => expect.stringContaining(each)));
    });

    test('every service becomes ready', async () => {
      stack = parts.use(await startStack({ settings: store.settings }));
      expect(await readyz()).toBe(200);
    });

    test('a JPEG, a PNG and a video in parts are published with renditions', async () => {
      const png = await samplePhoto('png', { width: 640, height: 480 });
      const ids = { jpeg: await uploaded(photo), png: await uploaded(png), video: await uploaded(video) };
      for (const id of Object.values(ids)) expect(await statusOf(`${stack.site}/${id}`)).toBe(200);
      for (const picture of [ids.jpeg, ids.png, ids.video])
        await expect.poll(() => statusOf(`${stack.site}/${picture}/large.jpg`), { interval: 500 }).toBe(200);
      const clip = `${stack.site}/${ids.video}/video.mp4`;
      await expect.poll(() => statusOf(clip), { interval: 500 }).toBe(200);
      const whole = Buffer.from(await (await fetch(clip)).arrayBuffer());
      const range = await fetch(clip, { headers: { range: 'bytes=1000-1999' } });
      expect(range.status).toBe(206);
      expect(Buffer.from(await range.arrayBuffer())).toEqual(whole.subarray(1000, 2000));
    });

    test('a resumable upload in uneven pieces, with a broken connection, is published', async () => {
      const path = await beginResumable();
      for (const end of [3 * MiB, 3 * MiB + 100_000]) {
        const { status } = await sendPiece(path, await offsetOf(path), end);
        expect(status).toBe(204);
      }
      const broken = 3 * MiB + 100_000;
      await patchAndCut(stack, path, broken, video.subarray(broken, broken + 6_500_000));
      await expect.poll(() => hasLease(stack, path)).toBe(false);
      const rest = await offsetOf(path);
      expect((await sendPiece(path, rest, rest + 5_300_000)).status).toBe(204);
      const { status, text } = await sendPiece(path, rest + 5_300_000);
      expect(status).toBe(200);
      const { id } = JSON.parse(text);
      expect(await statusOf(`${stack.site}/${id}`)).toBe(200);
      await expect.poll(() => statusOf(`${stack.site}/${id}/video.mp4`), { interval: 500 }).toBe(200);
    });

    test('a user lists uploads in pages, and deletes one', async () => {
      const ids: string[] = [];
      for (let after = ''; ; ) {
        const { media, next } = await listOwn(`?count=2${after}`);
        ids.push(...media.map(({ id }) => id));
        if (next === undefined) break;
        after = `&after=${next}`;
      }
      expect(new Set(ids).size).toBe(4);
      const [newest] = ids;
      const remove = () =>
        fetch(`${stack.gateway}/2/media/${newest}`, { method: 'DELETE', headers: echoHeaders(stack) });
      expect((await remove()).status).toBe(204);
      await expect.poll(() => statusOf(`${stack.site}/${newest}`)).toBe(410);
      expect((await remove()).status).toBe(404);
      expect(await idsOfOwn()).toEqual(ids.slice(1));
    });

    test('commands list, rebuild the listings, and find no fault in any byte', async () => {
      const ids = await idsOfOwn();
      const listed = await admin('list');
      expect(ids.filter((id) => !listed.includes(id))).toEqual([]);
      await admin('rebuild-listings');
      expect(await idsOfOwn()).toEqual(ids);
      await admin('verify-store', '--bytes');
    });

    test('a sweep finds nothing, and keeps unfinished uploads', async () => {
      for (const yes of [[], ['--yes']])
        expect(await admin('sweep', ...yes)).toContain('incomplete multipart uploads: 0 found');
      const path = await beginResumable();
      expect((await sendPiece(path, 0, 9_000_000)).status).toBe(204);
      await using form = await beginForm();
      for (const yes of [[], ['--yes']])
        expect(await admin('sweep', ...yes)).toContain(
          `incomplete multipart uploads: ${kind.datesUploadsWrongly ? 1 : 0} found`,
        );
      expect(await form.end()).toBe(kind.datesUploadsWrongly ? 503 : 200);
      expect(await offsetOf(path)).toBe(9_000_000);
      expect((await sendPiece(path, 9_000_000)).status).toBe(200);
    });

    test('a stop of the store refuses uploads, publishes nothing by half, and needs no restart', async () => {
      const before = await idsOfOwn();
      await using form = await beginForm();
      await store.server.stop();
      const during = await Promise.all([
        upload(stack, { media: photo }).then(({ status }) => status),
        form.end(),
        statusOf(`${stack.site}/${before[0]}`),
        readyz(),
      ]);
      expect(during).toEqual([503, 503, 503, 503]);
      await store.server.restart();
      if (kind.isInMemory) await createBucket();
      await expect.poll(readyz).toBe(200);
      const send = async () => (await upload(stack, { media: photo })).status;
      if (kind.writesLate) await expect.poll(send, { interval: 1000 }).toBe(200);
      else expect(await send()).toBe(200);
      const [next, ...earlier] = await idsOfOwn();
      expect(earlier).toEqual(kind.isInMemory ? [] : before);
      expect(await statusOf(`${stack.site}/${next}`)).toBe(200);
      await admin('verify-store', '--bytes');
    });

    test('after a restart of the system, uploads are there', async () => {
      const ids = await idsOfOwn();
      const services = Object.values(stack.services);
      await Promise.all(services.map((service) => service.stop()));
      await Promise.all(services.map((service) => service.restart()));
      expect(await idsOfOwn()).toEqual(ids);
      for (const id of ids) expect(await statusOf(`${stack.site}/${id}`)).toBe(200);
      await uploaded(photo);
    });

    test('purge deletes all uploads of the user', async () => {
      const owner = [stack.provider, `${sandbox.userId}`];
      const ids = await idsOfOwn();
      await admin('purge', ...owner);
      expect(await idsOfOwn()).toEqual(ids);
      await admin('purge', ...owner, '--yes');
      expect(await idsOfOwn()).toEqual([]);
      for (const id of ids) await expect.poll(() => statusOf(`${stack.site}/${id}`)).toBe(410);
      await admin('sweep', '--yes');
      await admin('verify-store', '--bytes');
    });
  });
}

function unlessMissing({ name, from }: StoreKind, isThere: boolean): TestOptions {
  if (isThere) return {};
  const needs = `${name} is missing. To run them: ${from}`;
  if (process.env['REQUIRE_STORES']?.split(',').includes(name))
    throw new Error(`REQUIRE_STORES names it, but ${needs}`);
  return { skip: true, meta: { needs } };
}
