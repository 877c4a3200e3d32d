import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { crc32 as crc32Of } from 'node:zlib';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { describe, expect, test } from 'vitest';
import { mediaObjectKey, newMediaKey } from '../object-keys.ts';
import { StagedWriteLost } from '../object-store.ts';
import { partBytes } from '../part-size.ts';
import { bytesAt, failingAfter, inChunks } from '../sources.fixture.ts';
import { newStagedWrite, type StagedWrite } from '../staged-write.ts';
import type { OpenedStores } from './opened-stores.fixture.ts';

const MiB = 1024 * 1024;

/** Objects that several calls write. */
export function stagedWritesContract(stores: () => OpenedStores): void {
  class Staged {
    readonly key = mediaObjectKey(newMediaKey());
    readonly #folder = `resumable/${newMediaKey()}`;
    write: StagedWrite = newStagedWrite(this.key, 'application/octet-stream');
    tails: string[] = [];

    async append(source: Readable, store = stores().store, verify?: () => void): Promise<void> {
      const newTailKey = () => {
        const key = `${this.#folder}/${newMediaKey()}`;
        this.tails.push(key);
        return key;
      };
      const save = async (write: StagedWrite) => {
        // As its owner keeps it.
        this.write = JSON.parse(JSON.stringify(write));
      };
      await store.append(this.write, source, { newTailKey, save, ...(verify && { verify }) });
    }

    async remainingTails(): Promise<string[]> {
      const isThere = await Promise.all(this.tails.map((key) => stores().store.exists(key)));
      return this.tails.filter((_, n) => isThere[n]);
    }
  }

  describe('staged writes', () => {
    test.each([
      ['nothing', []],
      ['a byte', [1]],
      ['less than a part in three calls', [MiB, 3, 2 * MiB]],
      ['whole parts', [partBytes, partBytes]],
      ['parts and what is between', [partBytes + 3, 5 * MiB, 1, MiB, 2 * partBytes + 7, 4 * MiB]],
      ['many calls', Array.from({ length: 20 }, () => 300_000)],
    ])('%s: the object has all bytes, once it is complete', async (_, sizes) => {
      const staged = new Staged();
      const pieces = sizes.map((size) => randomBytes(size));
      for (const [n, piece] of pieces.entries()) {
        await staged.append(inChunks(piece), n % 2 ? stores().other : stores().store);
        expect(staged.write.size).toBe(sizes.slice(0, n + 1).reduce((sum, size) => sum + size, 0));
        expect(await staged.remainingTails()).toEqual(staged.write.tails.map(({ key }) => key));
      }
      const bytes = Buffer.concat(pieces);
      expect(await stores().store.stat(staged.key)).toBeUndefined();
      const { crc32, ...written } = await stores().store.completeWrite(staged.write);
      expect(crc32).toBe(crc32Of(bytes).toString(16).padStart(8, '0'));
      expect(await stores().store.stat(staged.key)).toEqual(written);
      expect((await bytesAt(stores().store, staged.key))?.equals(bytes)).toBe(true);
      // Its caller may not know that it is complete.
      expect(await stores().other.completeWrite(staged.write)).toEqual({ ...written, crc32 });
      await stores().store.discardWrite(staged.write);
      expect(await staged.remainingTails()).toEqual([]);
      expect(await stores().store.stat(staged.key)).toEqual(written);
    });

    test('keeps what came from a source that failed', async () => {
      const staged = new Staged();
      const size = partBytes + 2 * MiB;
      await expect(staged.append(failingAfter(size, new Error('gone')))).rejects.toThrow('gone');
      expect(staged.write.size).toBe(size);
      await staged.append(inChunks(Buffer.alloc(10, 2)));
      await stores().store.completeWrite(staged.write);
      const bytes = await bytesAt(stores().store, staged.key);
      expect(bytes?.equals(Buffer.concat([Buffer.alloc(size, 1), Buffer.alloc(10, 2)]))).toBe(true);
    });

    test('replaces what came after the last saved state', async () => {
      const staged = new Staged();
      await staged.append(inChunks(Buffer.alloc(partBytes + 5, 1)));
      // A process that dies before it saves the next state.
      const dies = { newTailKey: () => 'resumable/a/b', save: () => Promise.reject(new Error('died')) };
      const dying = stores().other.append(staged.write, inChunks(Buffer.alloc(2 * partBytes, 2)), dies);
      await expect(dying).rejects.toThrow('died');
      await staged.append(inChunks(Buffer.alloc(7, 3)));
      await stores().store.completeWrite(staged.write);
      const bytes = await bytesAt(stores().store, staged.key);
      expect(bytes?.equals(Buffer.concat([Buffer.alloc(partBytes + 5, 1), Buffer.alloc(7, 3)]))).toBe(true);
    });

    test('bytes that `verify` refuses, or that are cut before it, leave nothing', async () => {
      const unfinished = async () => (await Array.fromAsync(stores().store.listUnfinishedWrites())).length;
      const before = await unfinished();
      const refuse = () => {
        throw new Error('not these');
      };
      for (const size of [5, 2 * partBytes + 5]) {
        const staged = new Staged();
        const refused = staged.append(inChunks(Buffer.alloc(size)), stores().store, refuse);
        await expect(refused).rejects.toThrow('not these');
        const cut = staged.append(failingAfter(size, new Error('gone')), stores().store, () => {});
        await expect(cut).rejects.toThrow('gone');
        expect(await staged.remainingTails()).toEqual([]);
      }
      expect(await unfinished()).toBe(before);
    });

    test('with `verify`, bytes count only if it accepts them', async () => {
      const staged = new Staged();
      await staged.append(inChunks(Buffer.alloc(5, 1)));
      const { write } = staged;
      const refuse = () => {
        throw new Error('not these');
      };
      const refused = staged.append(inChunks(Buffer.alloc(2 * partBytes, 2)), stores().store, refuse);
      await expect(refused).rejects.toThrow('not these');
      const cut = staged.append(failingAfter(2 * partBytes, new Error('gone')), stores().store, () => {});
      await expect(cut).rejects.toThrow('gone');
      expect(staged.write).toEqual(write);
      await staged.append(inChunks(Buffer.alloc(partBytes, 3)), stores().store, () => {});
      await stores().store.completeWrite(staged.write);
      const bytes = await bytesAt(stores().store, staged.key);
      expect(bytes?.equals(Buffer.concat([Buffer.alloc(5, 1), Buffer.alloc(partBytes, 3)]))).toBe(true);
    });

    test('a call without bytes leaves nothing', async () => {
      const unfinished = async () => (await Array.fromAsync(stores().store.listUnfinishedWrites())).length;
      const before = await unfinished();
      await new Staged().append(inChunks(Buffer.alloc(0)));
      expect(await unfinished()).toBe(before);
    });

    test('a write whose bytes a suspended process has overwritten is lost', async () => {
      const staged = new Staged();
      await staged.append(inChunks(Buffer.alloc(partBytes, 1)));
      const earlier = staged.write;
      await staged.append(inChunks(Buffer.alloc(partBytes, 2)));
      const conflicts = { newTailKey: () => 'resumable/a/b', save: () => Promise.reject(new Error('conflict')) };
      const late = stores().other.append(earlier, inChunks(Buffer.alloc(partBytes, 3)), conflicts);
      await expect(late).rejects.toThrow('conflict');
      await expect(stores().store.completeWrite(staged.write)).rejects.toThrow(StagedWriteLost);
    });

    test('a discarded write is lost: it takes no bytes, and never completes', async () => {
      const staged = new Staged();
      await staged.append(inChunks(randomBytes(partBytes + 5)));
      await stores().store.discardWrite(staged.write);
      await stores().other.discardWrite(staged.write);
      await expect(staged.append(inChunks(randomBytes(partBytes)))).rejects.toThrow(StagedWriteLost);
      await expect(stores().store.completeWrite(staged.write)).rejects.toThrow(StagedWriteLost);
    });

    test('is listed as unfinished under its id', async () => {
      const staged = new Staged();
      await staged.append(inChunks(Buffer.alloc(partBytes)));
      const ids = async () => (await Array.fromAsync(stores().store.listUnfinishedWrites())).map(({ id }) => id);
      await waitUntil('the write in the list', async () => (await ids()).includes(staged.write.id ?? ''));
    });
  });
}
