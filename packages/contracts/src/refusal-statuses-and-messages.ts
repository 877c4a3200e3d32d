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

const secretFields = 'consumer_token, consumer_secret, oauth_token and oauth_secret';

/** Media that precedes its credentials and exceeds what the gateway buffers without them. */
export const secretsFirst = `Send the fields ${secretFields} before the file.`;

/** Credentials of version 2 are headers, those of version 1 fields; the default is version 2. */
export const credentialsMissingSentences = {
  headers: 'Missing credentials: send the headers X-Auth-Service-Provider and X-Verify-Credentials-Authorization.',
  fields: `Missing credentials: send the fields ${secretFields}.`,
} as const;

/** Why credentials are refused; the default is the provider's response. */
export const credentialsRefusedSentences = {
  provider: 'The identity provider rejected the credentials.',
  unsupported_scheme:
    'The identity provider does not support this authorization scheme. Send Bearer instead of OAuth, or OAuth instead of Bearer.',
  replay:
    'These credentials were used before, or the server cannot rule that out. Make a new signature for every request, also for a repeated one.',
} as const;

/** Why a parameter is missing; the default is the API key. */
export const missingSentences = {
  key: 'Missing parameter: key.',
  message: 'Missing parameter: message.',
  media: 'Missing parameter: media. It must be a file that is not empty.',
} as const;

/** Why a form is malformed; the default is a body that ends early or is not well-formed. */
export const malformedSentences = {
  incomplete: 'Malformed or incomplete multipart form.',
  contentType: 'Content-Type must be multipart/form-data with a boundary.',
  repeated: 'Duplicate parameter.',
  tooLong: 'A field is too long: more than 65,536 bytes, or an `alt` of more than 1,500 characters.',
  tooMany: 'Too many parameters.',
  encoding: 'A parameter is not valid UTF-8.',
} as const;

/** Every error response to a client: its status and message. Messages never echo input. */
export const refusals = {
  parameter_missing: [400, missingSentences.key],
  query_malformed: [400, "`count` must be 1 to 100; `after` must be a previous page's `next` cursor."],
  idempotency_key_malformed: [400, 'Idempotency-Key must be a quoted string of 1 to 255 printable ASCII characters.'],
  request_malformed: [400, 'The request is not well-formed HTTP.'],
  tus_malformed: [400, 'The headers of the resumable upload are missing or malformed.'],
  checksum_unsupported: [400, 'Upload-Checksum must have one of the algorithms in Tus-Checksum-Algorithm.'],
  form_malformed: [400, malformedSentences.incomplete],
  credentials_missing: [401, credentialsMissingSentences.headers],
  credentials_refused: [401, credentialsRefusedSentences.provider],
  provider_unknown: [401, 'This server does not accept this identity provider.'],
  provider_unavailable: [401, 'The identity provider is unavailable. Try again later.'],
  api_key_unknown: [401, 'This server does not accept this API key. Check the parameter `key`.'],
  not_yours: [403, 'This upload belongs to another user.'],
  caller_blocked: [403, 'This user is blocked from uploading.'],
  application_blocked: [403, 'This application is blocked from uploading.'],
  not_found: [404, 'Not found.'],
  method_not_allowed: [405, 'Method not allowed.'],
  too_slow: [408, 'The upload was too slow.'],
  idempotency_key_in_use: [409, 'An upload with this Idempotency-Key may still be in progress.'],
  offset_conflict: [409, 'Upload-Offset is not the number of bytes received so far. Send HEAD to get the offset.'],
  upload_incomplete: [409, 'This upload is not complete yet.'],
  upload_published: [409, 'This upload is published already.'],
  removed: [410, 'This upload was removed.'],
  upload_expired: [410, 'This resumable upload has expired.'],
  tus_version: [412, 'Send the header Tus-Resumable: 1.0.0.'],
  media_too_large: [413, 'The file exceeds the size limit.'],
  media_unsupported: [415, unsupportedSentences.unknown_type],
  tus_content_type: [415, 'Content-Type must be application/offset+octet-stream.'],
  expectation_failed: [417, 'Unsupported Expect header; only 100-continue is supported.'],
  idempotency_key_reused: [422, 'This Idempotency-Key was used for another upload.'],
  upload_locked: [423, 'Another request is sending this upload. Try again later.'],
  too_many_requests: [429, 'Upload rate or concurrency limit exceeded.'],
  headers_too_large: [431, 'The headers of the request are too large.'],
  checksum_mismatch: [460, 'The bytes differ from Upload-Checksum.'],
  overloaded: [503, 'The server is overloaded. Try again later.'],
  unavailable: [503, 'The service is temporarily unavailable. Try again later.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>;

export type Reason = keyof typeof refusals;

const temporary: ReadonlySet<Reason> = new Set<Reason>([
  'provider_unavailable',
  'too_slow',
  'idempotency_key_in_use',
  'upload_locked',
  'too_many_requests',
  'overloaded',
  'unavailable',
]);

/** Whether the same request may succeed later. */
export function isTemporary(reason: Reason): boolean {
  return temporary.has(reason);
}

/** All messages of a reason. */
export function sentencesOf(reason: Reason): readonly string[] {
  if (reason === 'media_unsupported') return Object.values(unsupportedSentences);
  if (reason === 'credentials_missing') return Object.values(credentialsMissingSentences);
  if (reason === 'credentials_refused') return Object.values(credentialsRefusedSentences);
  if (reason === 'parameter_missing') return Object.values(missingSentences);
  if (reason === 'form_malformed') return Object.values(malformedSentences);
  return [refusals[reason][1], ...(reason === 'media_too_large' ? [secretsFirst] : [])];
}
