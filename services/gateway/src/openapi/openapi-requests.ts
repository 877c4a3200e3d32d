import { maxAltCharacters } from '@echodrop/record';
import { maxFieldBytes, maxSecretBytes } from '../receive/form-content.ts';
import type { FieldName } from '../receive/part-headers.ts';

const nonEmpty = { type: 'string', minLength: 1 };

/** OpenAPI parameters of an upload (docs/reference/interface.md section 4.1). */
export const uploadParameters = {
  format: parameter('path', 'format', 'The format of the response.', { type: 'string', enum: ['xml', 'json'] }),
  verifyCredentials: parameter(
    'header',
    'X-Verify-Credentials-Authorization',
    "The OAuth 1.0a Authorization header that the user would send with a GET to the identity provider's credential check. Sign it again for each attempt. Required, unless the request has a bearer token.",
    nonEmpty,
    'OAuth realm="https://provider.example/", oauth_consumer_key="...", oauth_signature_method="HMAC-SHA1", ' +
      'oauth_token="...", oauth_timestamp="1290350000", oauth_nonce="...", oauth_version="1.0", oauth_signature="..."',
  ),
  authServiceProvider: parameter(
    'header',
    'X-Auth-Service-Provider',
    "The address of that credential check, byte for byte one of the operator's list. Required, unless the request has a bearer token and one provider accepts such.",
    nonEmpty,
    'https://provider.example/1/account/verify_credentials.json',
  ),
  idempotencyKey: parameter(
    'header',
    'Idempotency-Key',
    'Names this upload for a day (draft-ietf-httpapi-idempotency-key-header): a repeat of the same user and API key with the same ' +
      'Idempotency-Key, message and media gets the same record, in any version and format. A refused upload frees its key. ' +
      'A quoted string; the quotes are optional if it has neither spaces nor quotes.',
    { type: 'string', pattern: String.raw`^("([ !#-\[\]-~]|\\["\\]){1,255}"|[!#-\[\]-~]{1,255})$` },
    '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
  ),
};

const count = { type: 'integer', minimum: 1, maximum: 100, default: 20 };
const cursor = { type: 'string', pattern: String.raw`^\d{13}-[0-9A-Za-z]{10}$` };

/** OpenAPI parameters of requests about own uploads. */
export const ownParameters = {
  id: parameter('path', 'id', 'The id of the record.', { type: 'string', pattern: '^[0-9A-Za-z]{10}$' }),
  count: parameter('query', 'count', 'Maximum records per page.', count),
  after: parameter('query', 'after', '`next` of the previous page.', cursor),
};

function parameter(
  where: 'path' | 'header' | 'query',
  name: string,
  description: string,
  schema: object,
  example?: string,
) {
  const required = where === 'path';
  return { name, in: where, required, description, schema, example };
}

const fields = {
  key: { ...nonEmpty, maxLength: maxSecretBytes, description: 'The API key of the calling application.' },
  message: {
    type: 'string',
    maxLength: maxFieldBytes,
    description: 'The public caption: UTF-8, at most 64 KiB; required, but may be empty.',
  },
  alt: {
    type: 'string',
    maxLength: maxAltCharacters,
    description: 'Optional: what the media shows, for people who cannot see it. UTF-8, public, not in the record.',
  },
  media: {
    ...nonEmpty,
    contentMediaType: 'application/octet-stream',
    description: 'The photo or video. Its type is detected from its bytes, not from its name or Content-Type.',
  },
  consumer_token: { ...nonEmpty, description: "The application's consumer key at the identity provider." },
  consumer_secret: { ...nonEmpty, format: 'password', description: "The consumer key's secret." },
  oauth_token: { ...nonEmpty, description: "The user's token at the identity provider." },
  oauth_secret: { ...nonEmpty, format: 'password', description: "The token's secret." },
} as const satisfies Record<FieldName | 'media', object>;

/** An OpenAPI request body: a form with these fields, all of them required, and the optional `alt`. */
export function formOf(maxMediaBytes: number, ...names: readonly (keyof typeof fields)[]) {
  const properties = Object.fromEntries([...names, 'alt' as const].map((name) => [name, fields[name]]));
  return {
    required: true,
    description: `The fields in any order; others are ignored. A repeated field is an error. Media has at most ${maxMediaBytes} bytes.`,
    content: { 'multipart/form-data': { schema: { type: 'object', required: names, properties } } },
  };
}
