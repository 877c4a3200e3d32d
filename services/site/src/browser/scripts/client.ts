// What pages use of the npm package.
export { EchodropClient, RequestRefused, ServiceUnreachable, UnreadableResponse } from '@echodrop/client/browser';
export { checkAddress } from '@echodrop/client/client-errors';
export { maxRetryAfterMs } from '@echodrop/client/retry';
export { shellWord } from '@echodrop/client/shell-word';
export { newIdempotencyKey } from '@echodrop/client/upload/idempotency-key';
export { mayBePublished } from '@echodrop/client/upload/refused-uploads';
