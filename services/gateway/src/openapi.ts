import { image, uploadedResponse } from './openapi-record.ts';
import { refusalResponses, uploadRefusals } from './openapi-refusals.ts';
import { formOf, uploadParameters } from './openapi-requests.ts';

/** The OpenAPI 3.1 document of both uploads (INTERFACE section 4) below `base`, a path without a slash at its end, for media of up to `maxMediaBytes`. */
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
        'Exactly 200 is success. Every other answer is a refusal, in the format that was asked for; one that is made before ' +
        'the format is known is JSON. Methods other than POST are refused with 405 (`components/responses/Refused405`).\n\n' +
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
    },
    components: { schemas: { Image: image }, responses: { Uploaded: uploadedResponse, ...refusalResponses } },
  };
}
