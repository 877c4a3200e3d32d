import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { secretNames } from '../receive/part-headers.ts';
import {
  formatParameter,
  formOf,
  headerParameters,
  mediaIdParameter,
  pageParameters,
  uploadIdParameter,
} from './parameters.ts';
import { ownRefusals, refusalResponses, resumableRefusals, uploadRefusals } from './refusals.ts';
import { recordSchemas, responses } from './responses.ts';

/** Serves the document, cacheable for an hour and revalidated by its tag. */
export function serveOpenApi(base: string, maxMediaBytes: number): RequestHandler {
  const body = JSON.stringify(openApiDocument(base, maxMediaBytes));
  const tag = `"${hash('sha256', body, 'base64url').slice(0, 16)}"`;
  return (_request, response) => {
    response.set({ 'Cache-Control': 'public, max-age=3600', ETag: tag }).type('json').send(body);
  };
}

/** The OpenAPI 3.1 document of uploads and own uploads (docs/reference/interface.md section 4) below `base`, a path without a final slash. */
function openApiDocument(base: string, maxMediaBytes: number) {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Echodrop',
      version: '2',
      summary: 'Uploads of photos and videos by users of an identity provider.',
      description:
        'Success is 200, or 204 for a deletion. Every other response is a refusal, in the requested format, or in JSON if that is ' +
        'unknown. Other methods are refused with 405 (`components/responses/Refused405`).\n\n' +
        'Retry 408, 409, 429, 503, and of the 401s only `provider_unavailable`, after `Retry-After` seconds if the header is there; ' +
        'and an upload whose response was lost. Sign the header again for each attempt, since an identity provider may accept a ' +
        'signature only once, and send the same `Idempotency-Key`, so that there is only one record. Other refusals are final.\n\n' +
        'A refusal may come while the body is still being sent: read it even if sending fails, or send `Expect: 100-continue`. ' +
        '`100 Continue` follows the header checks. Limits: 16 KiB of headers, 100 form parts.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: base || '/' }],
    // The alternative without a scheme has the proof in the parameters of the operation.
    security: [{}, { bearer: [] }],
    paths: pathsOf(maxMediaBytes),
    components: {
      securitySchemes: { bearer },
      schemas: recordSchemas,
      responses: { ...responses, ...refusalResponses },
    },
  };
}

const bearer = {
  type: 'http',
  scheme: 'bearer',
  description: "A token of the user's identity provider, if the request has no other proof of its user.",
};

const proof = headerParameters('X-Verify-Credentials-Authorization?', 'X-Auth-Service-Provider?');
const tusProof = [...headerParameters('Tus-Resumable'), ...proof];
const idempotencyKey = headerParameters('Idempotency-Key?');

const summaries = {
  uploadV2: 'Upload a photo or a video of the user who signed the header.',
  uploadV1: 'The same with four OAuth secrets in the form; kept for old clients.',
  listOwn: 'List the uploads of the user who signed the header, newest first.',
  findOwn: 'Get the record of an upload of the user who signed the header.',
  removeOwn: 'Delete an upload of the user who signed the header.',
  createResumable: 'Create a resumable upload (tus 1.0.0).',
  findOffset: 'Get the number of bytes that the server has.',
  sendBytes: 'Send bytes. With the last one, the upload is published.',
  findRecord: 'Get the record of a published upload.',
  terminateResumable: 'Discard an unpublished upload.',
};

/** An OpenAPI operation. `named`: the names of its responses by status. */
function operation(operationId: keyof typeof summaries, parameters: readonly object[], named: object, more = {}) {
  const references = Object.entries(named).map(([status, name]) => [
    status,
    { $ref: `#/components/responses/${name}` },
  ]);
  const summary = summaries[operationId];
  return { operationId, summary, parameters, responses: Object.fromEntries(references), ...more };
}

function pathsOf(maxMediaBytes: number) {
  const formV2 = formOf(maxMediaBytes, 'key', 'message', 'media', 'alt');
  const formV1 = formOf(maxMediaBytes, 'key', ...secretNames, 'message', 'media', 'alt');
  const uploaded = { 200: 'Uploaded', ...uploadRefusals };
  return {
    '/2/upload.{format}': {
      parameters: formatParameter,
      post: operation('uploadV2', [...proof, ...idempotencyKey], uploaded, { requestBody: formV2 }),
    },
    '/1/upload.{format}': {
      parameters: formatParameter,
      post: operation('uploadV1', idempotencyKey, uploaded, { requestBody: formV1, deprecated: true }),
    },
    '/2/media.{format}': {
      parameters: formatParameter,
      get: operation('listOwn', [...proof, ...pageParameters], { 200: 'Listed', ...ownRefusals }),
    },
    '/2/media/{id}.{format}': {
      parameters: [...mediaIdParameter, ...formatParameter],
      get: operation('findOwn', proof, { 200: 'Uploaded', ...ownRefusals }),
    },
    '/2/media/{id}': {
      parameters: mediaIdParameter,
      delete: operation(
        'removeOwn',
        proof,
        { 204: 'Removed', ...ownRefusals },
        {
          description: 'The owner is the user at the identity provider. Refusals are JSON.',
        },
      ),
    },
    ...resumablePaths,
  };
}

/** Resumable uploads (tus 1.0.0, docs/integrate/resumable.md), as far as a client without a tus library needs them. */
const resumablePaths = {
  '/files/': {
    post: operation(
      'createResumable',
      [...tusProof, ...headerParameters('Idempotency-Key?', 'Upload-Length?', 'Upload-Metadata')],
      { 201: 'ResumableCreated', ...resumableRefusals },
    ),
  },
  '/files/{id}': {
    parameters: uploadIdParameter,
    head: operation('findOffset', tusProof, { 200: 'ResumableFound', ...resumableRefusals }),
    patch: operation(
      'sendBytes',
      [...tusProof, ...headerParameters('Upload-Offset', 'Prefer?', 'Upload-Checksum?')],
      { 200: 'ResumablePublished', 204: 'ResumableStored', ...resumableRefusals },
      { requestBody: { required: true, content: { 'application/offset+octet-stream': {} } } },
    ),
    get: operation('findRecord', tusProof, { 200: 'ResumableRecord', ...resumableRefusals }),
    delete: operation('terminateResumable', tusProof, { 204: 'ResumableDiscarded', ...resumableRefusals }),
  },
};
