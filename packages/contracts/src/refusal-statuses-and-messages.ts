import { mediaTypes } from '@echodrop/media/detect-media-type';
import type { UnsupportedReason } from '@echodrop/media/outcomes';

const typeNames = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  mediaTypes.map((type) => type.toUpperCase()),
);

/** Why media is refused; `{type}` is the detected type. */
export const unsupportedSentences = {
  unknown_type: `This is not a supported photo or video. Use ${typeNames}.`,
  type_off: 'This server does not accept {type} files.',
  broken: 'The file is damaged or incomplete.',
  no_picture: 'The file has no video track. Audio files are not supported.',
  codec: 'This codec is not supported. For video, use H.264 with AAC audio.',
  too_many_pixels: 'The image dimensions exceed the limit.',
  too_costly: 'The file is too complex to process. Re-encode it with another program.',
} as const satisfies Record<UnsupportedReason, string>;

type Messages = string | Readonly<Record<string, string>>;

/**
 * Every error response: its status, and its message, or one for each cause. `{name}` is a placeholder.
 */
export const refusals = {
  parameter_missing: [
    400,
    {
      absent: 'Missing parameter: {name}. Received: {received}.',
      empty: 'Parameter {name} is empty.',
      sentAsFile: 'Parameter {name} was sent as a file ({sign}); send it as text.',
      sentAsText: 'Parameter {name} was sent as text; send it as a file, with a file name.',
    },
  ],
  query_malformed: [
    400,
    { count: '`count` must be 1 to 100.', after: "`after` must be a previous page's `next` cursor." },
  ],
  idempotency_key_malformed: [400, 'Idempotency-Key must be a quoted string of 1 to 255 printable ASCII characters.'],
  request_malformed: [
    400,
    {
      syntax: 'The request is not well-formed HTTP.',
      host: 'The request must have one valid Host header.',
      coding: 'Unsupported Transfer-Encoding; only chunked is supported.',
      twoProofs: 'The request has two proofs of its user: {first} and {second}. Send one.',
    },
  ],
  tus_malformed: [
    400,
    {
      header: 'The header {name} is missing or malformed.',
      headers: 'A header of the tus protocol is missing or malformed.',
      concatenation:
        'Upload-Concat is not supported. Send the file in one upload: with tus-js-client or Uppy, set parallelUploads to 1.',
      metadata: 'Upload-Metadata must be a list of names, each with a UTF-8 value in Base64.',
    },
  ],
  checksum_unsupported: [
    400,
    'Upload-Checksum must be one of these algorithms, a space and a digest in Base64: {algorithms}.',
  ],
  form_malformed: [
    400,
    {
      noDelimiter: 'The form does not contain the boundary that Content-Type names.',
      incomplete: 'Incomplete multipart form: its closing boundary is missing.',
      boundary: 'Malformed multipart form: a boundary is not on a line of its own, or a part has no content.',
      headers: 'Malformed multipart form: the headers of a part are malformed, repeated or longer than 16 KiB.',
      disposition: 'Malformed multipart form: a part has no header Content-Disposition: form-data with a name.',
      transferEncoding: 'Parameter {name} has an unsupported Content-Transfer-Encoding; send it as binary.',
      charset: 'Parameter {name} has an unsupported charset; send UTF-8.',
      encoding: 'Parameter {name} is not valid UTF-8.',
      contentType: 'Content-Type must be multipart/form-data, but is {type}.',
      noBoundary: 'Content-Type has no valid boundary. Let the HTTP library write this header.',
      repeated: 'Duplicate parameter: {name}.',
      tooLong: 'Parameter {name} is longer than {limit}.',
      tooMany: 'The form has more than {limit} parts.',
    },
  ],
  credentials_missing: [
    401,
    {
      headers:
        'Missing credentials: send the headers X-Auth-Service-Provider and X-Verify-Credentials-Authorization, or Authorization with a bearer token.',
      header: 'Missing credentials: send the header {name}, too.',
      provider:
        'Missing credentials: send the header X-Auth-Service-Provider, too. Several identity providers of this server accept bearer tokens.',
      fields: 'Missing credentials: send the fields {names}, or a bearer token in the header Authorization.',
      sentAsFile: 'Parameter {name} was sent as a file ({sign}); send it as text.',
    },
  ],
  credentials_refused: [
    401,
    {
      provider: 'The identity provider rejected the credentials.',
      unsupported_scheme:
        'The identity provider does not support this authorization scheme. Begin the value with the one that it supports: Bearer or OAuth.',
    },
  ],
  provider_unknown: [
    401,
    {
      header: 'This server does not accept this identity provider.',
      listed: 'This server does not accept this identity provider. It accepts {providers}.',
      some: 'This server does not accept this identity provider. It accepts {providers} and others.',
      secrets: 'No identity provider of this server accepts OAuth secrets. Use version 2 of the interface.',
    },
  ],
  provider_unavailable: [401, 'The identity provider is unavailable. Try again later.'],
  api_key_unknown: [401, 'This server does not accept this API key. Check the parameter `key`.'],
  not_yours: [403, 'This upload belongs to another user.'],
  caller_blocked: [403, 'This user is blocked from uploading.'],
  application_blocked: [403, 'This application is blocked from uploading.'],
  not_found: [
    404,
    {
      path: "This address does not exist. The site's page /documentation describes the API.",
      upload: 'No upload has this id.',
      resumable: 'This user has no resumable upload at this address.',
    },
  ],
  method_not_allowed: [405, 'Method not allowed. Use {methods}.'],
  too_slow: [
    408,
    {
      pace: 'The upload was too slow: no data for 30 seconds, or less than {rate} bytes per second.',
      total: 'The request took longer than {seconds} seconds.',
      headers: 'The headers of the request took longer than 30 seconds.',
    },
  ],
  idempotency_key_in_use: [409, 'An upload with this Idempotency-Key may still be in progress.'],
  offset_conflict: [409, 'Upload-Offset is not the number of bytes received so far. Send HEAD to get the offset.'],
  upload_incomplete: [409, 'This upload is not complete yet.'],
  upload_published: [409, 'This upload is published already.'],
  removed: [410, 'This upload was removed.'],
  upload_expired: [410, 'This resumable upload has expired.'],
  tus_version: [412, 'Send the header Tus-Resumable: 1.0.0.'],
  media_too_large: [
    413,
    {
      size: 'The file exceeds the size limit of {limit}.',
      declared: 'The body has more bytes than are left of Upload-Length.',
      secretsFirst: 'Send the fields consumer_token, consumer_secret, oauth_token and oauth_secret before the file.',
    },
  ],
  media_unsupported: [415, unsupportedSentences],
  tus_content_type: [415, 'Content-Type must be application/offset+octet-stream, but is {type}.'],
  expectation_failed: [417, 'Unsupported Expect header; only 100-continue is supported.'],
  idempotency_key_reused: [422, 'This Idempotency-Key was used for another upload.'],
  upload_locked: [423, 'Another request is sending this upload. Try again later.'],
  too_many_requests: [
    429,
    {
      userRate: 'Upload rate limit of this user exceeded: {limit} uploads per minute.',
      keyRate: 'Upload rate limit of this API key exceeded: {limit} uploads per minute.',
      userUploads: 'Concurrency limit of this user exceeded.',
      addressRate: 'Rate limit of this IP address exceeded: too many requests without valid credentials.',
      addressUploads: 'Concurrency limit of this IP address exceeded: too many requests without verified credentials.',
    },
  ],
  headers_too_large: [
    431,
    {
      headers: 'The headers of the request exceed 16 KiB.',
      chunkExtensions: 'The chunk extensions of the body are too long.',
    },
  ],
  checksum_mismatch: [460, 'The bytes differ from Upload-Checksum.'],
  internal_error: [
    500,
    'Unexpected error of the server. If it stays, send the X-Request-Id of this response to the operator.',
  ],
  overloaded: [503, 'The server is overloaded. Try again later.'],
  unavailable: [503, 'The service is temporarily unavailable. Try again later.'],
} as const satisfies Record<string, readonly [status: number, messages: Messages]>;

export type Reason = keyof typeof refusals;

/** The messages of a reason, with their placeholders: a text, or one for each cause. */
export type MessagesOf<R extends Reason> = (typeof refusals)[R][1];

const temporary: ReadonlySet<Reason> = new Set<Reason>([
  'provider_unavailable',
  'too_slow',
  'idempotency_key_in_use',
  'upload_locked',
  'too_many_requests',
  'internal_error',
  'overloaded',
  'unavailable',
]);

/** Whether the same request may succeed later. */
export function isTemporary(reason: Reason): boolean {
  return temporary.has(reason);
}

/** All messages of a reason, with their placeholders. */
export function messagesOf(reason: Reason): readonly string[] {
  const messages: Messages = refusals[reason][1];
  return typeof messages === 'string' ? [messages] : Object.values(messages);
}
