import { maxAltCharacters, mediaIdShape } from '@echodrop/record';
import { z } from 'zod';
import { idempotencyKeyShape } from '../idempotency/idempotency.ts';
import { pageShape } from '../own-uploads/own-upload-routes.ts';
import { maxFieldBytes, maxSecretBytes } from '../receive/form-content.ts';
import type { FieldName } from '../receive/part-headers.ts';
import { describeValue, type Shapes, schemaOf } from './json-schema.ts';

const text = (description: string) => z.string().describe(description);
const integer = (description: string, min = 0) => z.int().min(min).describe(description);
const credentials = text(
  "The OAuth 1.0a Authorization header that the user would send with a GET to the identity provider's credential check. Sign it again for each attempt. Required, unless the request has a bearer token.",
);
const signed =
  'OAuth realm="https://provider.example/", oauth_consumer_key="...", oauth_signature_method="HMAC-SHA1", ' +
  'oauth_token="...", oauth_timestamp="1290350000", oauth_nonce="...", oauth_version="1.0", oauth_signature="..."';
const provider = text(
  "The address of that credential check, byte for byte one of the operator's list. Required, unless the request has a bearer token and one provider accepts such.",
);
const idempotencyKey = idempotencyKeyShape.describe(
  'Names this upload for a day (draft-ietf-httpapi-idempotency-key-header): a repeat of the same user and API key with the same ' +
    'Idempotency-Key, message and media gets the same record, in any version and format. A refused upload frees its key. ' +
    'A quoted string; the quotes are optional if it has neither spaces nor quotes.',
);

/** All headers of requests and responses. */
const headers = {
  'X-Request-Id': z.uuid().describe('Identifies this response; also in the log.'),
  'X-Verify-Credentials-Authorization': credentials.min(1).meta({ examples: [signed] }),
  'X-Auth-Service-Provider': provider
    .min(1)
    .meta({ examples: ['https://provider.example/1/account/verify_credentials.json'] }),
  'Idempotency-Key': idempotencyKey.meta({ examples: ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'] }),
  'WWW-Authenticate': z.enum(['OAuth', 'Bearer realm="Echodrop"']),
  'Retry-After': integer(
    'Seconds until a retry. A 401 has it with `provider_unavailable`, a 409 with `idempotency_key_in_use`.',
    1,
  ),
  Allow: text('The methods of this address.'),
  'Cache-Control': z.literal('no-store').describe('Of resumable uploads.'),
  'Tus-Resumable': z.literal('1.0.0').describe('The version of the protocol of resumable uploads.'),
  'Tus-Version': z.literal('1.0.0'),
  'Upload-Offset': integer('Bytes that the server has.'),
  'Upload-Length': integer('Bytes of the whole file.'),
  'Upload-Metadata': text(
    '`key`, `message` and optionally `alt`, with values in Base64. The server returns it without API key and secrets.',
  ),
  'Upload-Checksum': text('Algorithm and digest of the body in Base64.'),
  'Upload-Expires': text('When the upload expires.'),
  Location: text('The address of the upload; relative to the server unless it knows its public address.'),
  'Record-Location': z.url().describe('The public page.'),
  Prefer: text('`return=representation`: the record with the last byte.'),
  'Preference-Applied': text('`return=representation`.'),
};

/** The name of a header, with a question mark if it is optional. */
export type HeaderName = keyof typeof headers | `${keyof typeof headers}?`;

/** OpenAPI headers of a response. */
export function headersOf(names: readonly HeaderName[]) {
  const shapes = Object.entries(headerShapes(names));
  return Object.fromEntries(shapes.map(([name, shape]) => [name, describeValue(shape)]));
}

/** OpenAPI parameters that are headers of a request. */
export function headerParameters(...names: readonly HeaderName[]) {
  return parametersOf('header', headerShapes(names));
}

function headerShapes(names: readonly HeaderName[]): Shapes {
  const entries = names.map((each) => {
    const name = each.replace('?', '') as keyof typeof headers;
    return [name, name === each ? headers[name] : headers[name].optional()];
  });
  return Object.fromEntries(entries);
}

function parametersOf(where: 'path' | 'query' | 'header', shapes: Shapes) {
  return Object.entries(shapes).map(([name, shape]) => ({ name, in: where, ...describeValue(shape) }));
}

export const formatParameter = parametersOf('path', {
  format: z.enum(['xml', 'json']).describe('The format of the response.'),
});
export const mediaIdParameter = parametersOf('path', { id: mediaIdShape.describe('The id of the record.') });
export const uploadIdParameter = parametersOf('path', { id: z.string().regex(/^[0-9a-f]{32}$/) });
export const pageParameters = parametersOf('query', pageShape.shape);

const fields = {
  key: text('The API key of the calling application.').min(1).max(maxSecretBytes),
  message: text('The public caption: UTF-8, at most 64 KiB; required, but may be empty.').max(maxFieldBytes),
  alt: text('Optional: what the media shows, for people who cannot see it. UTF-8, public, not in the record.')
    .max(maxAltCharacters)
    .optional(),
  media: text('The photo or video. Its type is detected from its bytes, not from its name or Content-Type.')
    .min(1)
    .meta({ contentMediaType: 'application/octet-stream' }),
  consumer_token: text("The application's consumer key at the identity provider.").min(1),
  consumer_secret: text("The consumer key's secret.").min(1).meta({ format: 'password' }),
  oauth_token: text("The user's token at the identity provider.").min(1),
  oauth_secret: text("The token's secret.").min(1).meta({ format: 'password' }),
} satisfies Record<FieldName | 'media', z.ZodType>;

/** An OpenAPI request body: a form with these fields. */
export function formOf(maxMediaBytes: number, ...names: readonly (keyof typeof fields)[]) {
  const shape = z.object(Object.fromEntries(names.map((name) => [name, fields[name]])));
  return {
    required: true,
    description: `The fields in any order; others are ignored. A repeated field is an error. Media has at most ${maxMediaBytes} bytes.`,
    content: { 'multipart/form-data': { schema: schemaOf(shape) } },
  };
}
