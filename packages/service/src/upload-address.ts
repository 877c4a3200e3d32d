import { httpAddress } from './env.ts';

/** Whether a path is that of resumable uploads, which clients strip from the address of a service: people pass it as a whole. */
export function endsInFiles(path: string): boolean {
  return /(^|\/)files\/*$/.test(path);
}

/** The public address of the upload service, with its base path. */
export function uploadAddress() {
  return httpAddress().refine((address) => !endsInFiles(address), 'must not end in /files');
}
