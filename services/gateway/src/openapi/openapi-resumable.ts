import { requestIdHeader, tusHeader } from './openapi-record.ts';
import { resumableRefusals } from './openapi-refusals.ts';
import { uploadParameters } from './openapi-requests.ts';

const bytes = { type: 'integer', minimum: 0 };
const location = {
  description: 'The address of the upload; relative to the server unless it knows its public address.',
  schema: { type: 'string' },
};
const offset = { description: 'Bytes that the server has.', schema: bytes };
const expires = { description: 'When the upload expires.', schema: { type: 'string' } };
const length = { description: 'Bytes of the whole file.', schema: bytes };
const metadata = { description: 'As at the creation, without API key and secrets.', schema: { type: 'string' } };
const always = { ...requestIdHeader, ...tusHeader };
const recordLocation = { description: 'The public page.', schema: { type: 'string', format: 'uri' } };
const applied = { description: '`return=representation`.', schema: { type: 'string' } };
const record = { 'application/json': { schema: { $ref: '#/components/schemas/Image' } } };

/** The responses of `resumablePaths` other than refusals. */
export const resumableResponses = {
  ResumableCreated: { description: 'Created.', headers: { ...always, Location: location, 'Upload-Expires': expires } },
  ResumableFound: {
    description: 'The upload exists.',
    headers: {
      ...{ ...always, 'Upload-Offset': offset, 'Upload-Length': length },
      ...{ 'Upload-Metadata': metadata, 'Upload-Expires': expires },
    },
  },
  ResumableStored: {
    description: 'The bytes are stored. With `Record-Location`, the upload is complete and published.',
    headers: { ...always, 'Upload-Offset': offset, 'Upload-Expires': expires, 'Record-Location': recordLocation },
  },
  ResumablePublished: {
    description: 'The upload is complete and published. Only with `Prefer: return=representation`.',
    headers: { ...always, 'Upload-Offset': offset, 'Record-Location': recordLocation, 'Preference-Applied': applied },
    content: record,
  },
  ResumableRecord: { description: 'The record of the published upload.', headers: always, content: record },
  ResumableDiscarded: { description: 'Discarded.', headers: always },
};

const to = (name: keyof typeof resumableResponses) => ({ $ref: `#/components/responses/${name}` });

function header(name: string, description: string, schema: object, required = true) {
  return { name, in: 'header', required, description, schema };
}

const version = header('Tus-Resumable', 'The version of the protocol.', { type: 'string', const: '1.0.0' });
const { verifyCredentials, authServiceProvider, idempotencyKey } = uploadParameters;
const common = [version, verifyCredentials, authServiceProvider];

/** Resumable uploads (tus 1.0.0, docs/integrate/resumable.md), as far as a client without a tus library needs them. */
export const resumablePaths = {
  '/files/': {
    post: {
      operationId: 'createResumable',
      summary: 'Create a resumable upload (tus 1.0.0).',
      parameters: [
        ...common,
        idempotencyKey,
        header('Upload-Length', 'Bytes of the whole file.', bytes, false),
        header('Upload-Metadata', '`key`, `message` and optionally `alt`, with values in Base64.', { type: 'string' }),
      ],
      responses: { 201: to('ResumableCreated'), ...resumableRefusals },
    },
  },
  '/files/{id}': {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^[0-9a-f]{32}$' } }],
    head: {
      operationId: 'findOffset',
      summary: 'Get the number of bytes that the server has.',
      parameters: common,
      responses: { 200: to('ResumableFound'), ...resumableRefusals },
    },
    patch: {
      operationId: 'sendBytes',
      summary: 'Send bytes. With the last one, the upload is published.',
      parameters: [
        ...common,
        header('Upload-Offset', 'Bytes that the server has.', bytes),
        header('Prefer', '`return=representation`: the record with the last byte.', { type: 'string' }, false),
        header('Upload-Checksum', 'Algorithm and digest of the body in Base64.', { type: 'string' }, false),
      ],
      requestBody: { required: true, content: { 'application/offset+octet-stream': {} } },
      responses: { 200: to('ResumablePublished'), 204: to('ResumableStored'), ...resumableRefusals },
    },
    get: {
      operationId: 'findRecord',
      summary: 'Get the record of a published upload.',
      parameters: common,
      responses: { 200: to('ResumableRecord'), ...resumableRefusals },
    },
    delete: {
      operationId: 'terminateResumable',
      summary: 'Discard an unpublished upload.',
      parameters: common,
      responses: { 204: to('ResumableDiscarded'), ...resumableRefusals },
    },
  },
};
