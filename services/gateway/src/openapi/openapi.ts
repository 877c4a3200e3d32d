import { createHash } from 'node:crypto';
import { type RequestHandler, Router } from 'express';
import { methodNotAllowed } from '../answer/answer.ts';
import { image, imagePage, imagePageXml, listedResponse, removedResponse, uploadedResponse } from './openapi-record.ts';
import { ownRefusals, refusalResponses, uploadRefusals } from './openapi-refusals.ts';
import { formOf, ownParameters, uploadParameters } from './openapi-requests.ts';

/** GET `/openapi.json` below `base`, which may end with a slash: cacheable for an hour, and revalidated by its tag. */
export function openApiRoute(base: string, maxMediaBytes: number): Router {
  const root = base.replace(/\/+$/, '');
  const body = JSON.stringify(openApiDocument(root, maxMediaBytes));
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`;
  const answer: RequestHandler = (_request, response) => {
    response.set({ 'Cache-Control': 'public, max-age=3600', ETag: tag }).type('json').send(body);
  };
  const router = Router({ caseSensitive: true, strict: true });
  router.route(`${root}/openapi.json`).get(answer).all(methodNotAllowed('GET, HEAD', 'json'));
  return router;
}

/** The OpenAPI 3.1 document of uploads and own uploads (docs/interface.md section 4) below `base`, a path without a final slash. */
export function openApiDocument(base: string, maxMediaBytes: number) {
  const responses = { 200: { $ref: '#/components/responses/Uploaded' }, ...uploadRefusals };
  const { format, verifyCredentials, authServiceProvider, idempotencyKey } = uploadParameters;
  return {
    openapi: '3.1.1',
    info: {
      title: 'Echodrop',
      version: '2',
      summary: 'Takes photos and videos from users whom an identity provider knows.',
      description:
        'Exactly 200 is success, and 204 where an upload is removed. Every other answer is a refusal, in the format that was asked for; one that is made before ' +
        'the format is known is JSON. Other methods are refused with 405 (`components/responses/Refused405`).\n\n' +
        'What to try again: 408, 409, 429, 503, and of the 401s `provider_unavailable` alone, after `Retry-After` seconds where ' +
        'they are told; and an upload whose answer was lost. Sign the header anew for each attempt, since an identity provider ' +
        'may take a signature only once, and send the same `Idempotency-Key`, so that there is one record whatever was lost. All ' +
        'other refusals stay as they are.\n\n' +
        'A refusal may come while the body is still being sent: read it even where sending fails, or send `Expect: 100-continue`, ' +
        'which is answered once the headers are found good. Headers of a request may have 16 KiB, a form 100 parts.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: base || '/' }],
    paths: {
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
          requestBody: formOf(
            maxMediaBytes,
            'key',
            'consumer_token',
            'consumer_secret',
            'oauth_token',
            'oauth_secret',
            'message',
            'media',
          ),
          responses,
        },
      },
      '/2/media.{format}': {
        parameters: [format],
        get: {
          operationId: 'listOwn',
          summary: 'List what the user who signed the header has uploaded, newest first.',
          parameters: [verifyCredentials, authServiceProvider, ownParameters.count, ownParameters.after],
          responses: { 200: { $ref: '#/components/responses/Listed' }, ...ownRefusals },
        },
      },
      '/2/media/{id}': {
        parameters: [ownParameters.id],
        delete: {
          operationId: 'removeOwn',
          summary: 'Remove an upload of the user who signed the header.',
          description: 'Own means the same identity provider and the same user there. Refusals are JSON.',
          parameters: [verifyCredentials, authServiceProvider],
          responses: { 204: { $ref: '#/components/responses/Removed' }, ...ownRefusals },
        },
      },
    },
    components: {
      schemas: { Image: image, ImagePage: imagePage, ImagePageXml: imagePageXml },
      responses: {
        Uploaded: uploadedResponse,
        Listed: listedResponse,
        Removed: removedResponse,
        ...refusalResponses,
      },
    },
  };
}
