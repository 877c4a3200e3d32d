import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { secretNames } from '../receive/part-headers.ts';
import { recordResponses, recordSchemas } from './openapi-record.ts';
import { ownRefusals, refusalResponses, uploadRefusals } from './openapi-refusals.ts';
import { formOf, ownParameters, uploadParameters } from './openapi-requests.ts';
import { resumablePaths, resumableResponses } from './openapi-resumable.ts';

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
      responses: { ...recordResponses, ...resumableResponses, ...refusalResponses },
    },
  };
}

const bearer = {
  type: 'http',
  scheme: 'bearer',
  description: "A token of the user's identity provider, if the request has no other proof of its user.",
};

function pathsOf(maxMediaBytes: number) {
  const responses = { 200: { $ref: '#/components/responses/Uploaded' }, ...uploadRefusals };
  const { format, verifyCredentials, authServiceProvider, idempotencyKey } = uploadParameters;
  return {
    '/2/upload.{format}': {
      parameters: [format],
      post: {
        operationId: 'uploadV2',
        summary: 'Upload a photo or a video of the user who signed the header.',
        parameters: [verifyCredentials, authServiceProvider, idempotencyKey],
        requestBody: formOf(maxMediaBytes, 'key', 'message', 'media'),
        responses,
      },
    },
    '/1/upload.{format}': {
      parameters: [format],
      post: {
        operationId: 'uploadV1',
        summary: 'The same with four OAuth secrets in the form; kept for old clients.',
        deprecated: true,
        parameters: [idempotencyKey],
        requestBody: formOf(maxMediaBytes, 'key', ...secretNames, 'message', 'media'),
        responses,
      },
    },
    '/2/media.{format}': {
      parameters: [format],
      get: {
        operationId: 'listOwn',
        summary: 'List the uploads of the user who signed the header, newest first.',
        parameters: [verifyCredentials, authServiceProvider, ownParameters.count, ownParameters.after],
        responses: { 200: { $ref: '#/components/responses/Listed' }, ...ownRefusals },
      },
    },
    '/2/media/{id}.{format}': {
      parameters: [ownParameters.id, format],
      get: {
        operationId: 'findOwn',
        summary: 'Get the record of an upload of the user who signed the header.',
        parameters: [verifyCredentials, authServiceProvider],
        responses: { 200: { $ref: '#/components/responses/Uploaded' }, ...ownRefusals },
      },
    },
    '/2/media/{id}': {
      parameters: [ownParameters.id],
      delete: {
        operationId: 'removeOwn',
        summary: 'Delete an upload of the user who signed the header.',
        description: 'The owner is the user at the identity provider. Refusals are JSON.',
        parameters: [verifyCredentials, authServiceProvider],
        responses: { 204: { $ref: '#/components/responses/Removed' }, ...ownRefusals },
      },
    },
    ...resumablePaths,
  };
}
