import { type NodeMediaSource, openMedia } from './platform/node-media.ts';
import { sendMedia } from './platform/node-send.ts';
import { type ClientOptions, UploadClient } from './upload-client.ts';

export type { MediaRecord, RecordPage, RecordUser } from '@echodrop/record';
export { type RefusalReason, RequestRefused, ServiceUnreachable, UnreadableResponse } from './client-errors.ts';
export type { UserCredentials } from './credentials.ts';
export type { Progress } from './platform/platform.ts';
export type { ClientOptions, ListOptions, RequestOptions, UploadOptions } from './upload-client.ts';
export type { NodeMediaSource as MediaSource };

/** A client of one upload service, for one user. It also uploads files by their path. */
export class EchodropClient extends UploadClient<NodeMediaSource> {
  constructor(options: ClientOptions) {
    super(options, { open: openMedia, send: sendMedia });
  }
}
