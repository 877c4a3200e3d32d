// What pages use of the npm package: `packages/build` makes it `/scripts/client.js`.
export { EchodropClient, RequestRefused, ServiceUnreachable, UnreadableResponse } from '@echodrop/client/browser';
export { checkAddress, refusalOf } from '@echodrop/client/client-errors';
export { maxRetryAfterMs, RetryPolicy } from '@echodrop/client/retry-policy';
export { shellWord } from '@echodrop/client/shell-word';
export { newIdempotencyKey } from '@echodrop/client/upload/idempotency-key';
export { mayBePublished } from '@echodrop/client/upload/refused-uploads';
