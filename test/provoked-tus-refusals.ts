import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findResumable } from '@echodrop/archive/resumable-uploads';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import type { ReceivedResponse } from '@echodrop/testkit/documented-responses';
import type { Stack } from '@echodrop/testkit/start-stack';
import { createTus, holdLease, patchTus, sendTus } from '@echodrop/testkit/tus-requests';
import { expect } from 'vitest';

interface TusTarget {
  readonly stack: Stack;
  readonly photo: Buffer;
}

async function create(stack: Stack, length: number): Promise<string> {
  const { headers } = await createTus(stack, length);
  return `${headers.get('location')}`;
}

function patch(stack: Stack, path: string, body: RequestInit['body'], headers: Record<string, string> = {}) {
  return patchTus(stack, path, 0, body, headers);
}

/** Provokes each refusal of resumable uploads, by its reason. */
export const tusProvocations: Readonly<Record<string, (target: TusTarget) => Promise<ReceivedResponse>>> = {
  tus_malformed: ({ stack }) => sendTus(stack, 'POST', '/files/', { 'Upload-Length': 'many' }),
  tus_version: ({ stack }) => sendTus(stack, 'POST', '/files/', { 'Tus-Resumable': '0.2.2' }),
  tus_content_type: async ({ stack }) =>
    patch(stack, await create(stack, 9), 'some bytes', { 'Content-Type': 'text/plain' }),
  checksum_unsupported: async ({ stack }) =>
    patch(stack, await create(stack, 9), 'bytes', { 'Upload-Checksum': 'crc99 AAAA' }),
  checksum_mismatch: async ({ stack }) =>
    patch(stack, await create(stack, 9), 'bytes', { 'Upload-Checksum': 'sha1 AAAA' }),
  offset_conflict: async ({ stack }) => patch(stack, await create(stack, 9), 'bytes', { 'Upload-Offset': '5' }),
  upload_incomplete: async ({ stack }) => sendTus(stack, 'GET', await create(stack, 9)),
  upload_published: async ({ stack, photo }) => {
    const path = await create(stack, photo.length);
    await patch(stack, path, photo as Buffer<ArrayBuffer>);
    return sendTus(stack, 'DELETE', path);
  },
  upload_expired: async ({ stack }) => {
    const path = await create(stack, 9);
    await patch(stack, path, 'bytes');
    const folder = join(stack.folder, 'store');
    await using store = new FilesystemObjectStore(folder);
    const { state } = (await findResumable(store, `${path.split('/').at(-1)}`)) ?? expect.fail();
    await rm(join(folder, 'tmp', `${state.write.id}`));
    return patch(stack, path, 'more', { 'Upload-Offset': '5' });
  },
  upload_locked: async ({ stack }) => {
    const path = await create(stack, 9);
    await using _lease = await holdLease(stack, path);
    return await patch(stack, path, 'bytes');
  },
};
