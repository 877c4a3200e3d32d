import { openMedia, sendMedia } from './platform/browser-send.ts';
import type { MediaSource } from './platform/platform.ts';
import { type ClientOptions, UploadClient } from './upload-client.ts';

export type { MediaRecord, RecordPage, RecordUser } from '@echodrop/record';
export { type RefusalReason, RequestRefused, ServiceUnreachable, UnreadableResponse } from './client-errors.ts';
export type { UserCredentials } from './credentials.ts';
export type { MediaSource, Progress } from './platform/platform.ts';
export type { ClientOptions, ListOptions, RequestOptions, UploadOptions } from './upload-client.ts';

/** A client of one upload service, for one user. */
export class EchodropClient extends UploadClient<MediaSource> {
  constructor(options: ClientOptions) {
    super(options, { open: openMedia, send: sendMedia });
  }
}
