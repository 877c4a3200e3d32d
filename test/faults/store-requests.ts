import type { Fate, SeenRequest } from '@echodrop/testkit/servers/counting-proxy';
import { onDispose } from './on-dispose.ts';
import type { System } from './start-system.ts';

/** Whether a request writes media or a part of it. */
export function isMediaPut({ method, path }: SeenRequest): boolean {
  return method === 'PUT' && /^\/[^/]+\/media\//.test(path);
}

/** Whether a request completes a multipart upload of media. */
export function isMediaCompletion({ method, path, query }: SeenRequest): boolean {
  return method === 'POST' && query.has('uploadId') && /^\/[^/]+\/media\//.test(path);
}

/** Whether a request writes a record. */
export function isRecordPut({ method, path }: SeenRequest): boolean {
  return method === 'PUT' && /^\/[^/]+\/records\//.test(path);
}

/** Whether a request writes a listing entry. */
export function isEntryPut({ method, path }: SeenRequest): boolean {
  return method === 'PUT' && /^\/[^/]+\/by-(user|time)\//.test(path);
}

/** Applies `fate` to requests to the store until disposed. */
export async function decideRequests(system: System, fate: (request: SeenRequest) => Fate): Promise<AsyncDisposable> {
  system.decide(fate);
  return onDispose(() => system.decide(() => 'passes'));
}
