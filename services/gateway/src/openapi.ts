import { image, uploadedResponse } from './openapi-record.ts';
import { refusalResponses, uploadRefusals } from './openapi-refusals.ts';
import { formOf, uploadParameters } from './openapi-requests.ts';

/** The OpenAPI 3.1 document of both uploads (INTERFACE section 4) below `base`, a path without a slash at its end. */
export function openApiDocument(base: string) {
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
        'the format is known is JSON. Methods other than POST are refused with 405 (`components/responses/Refused405`).',
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
          requestBody: formOf('key', 'message', 'media'),
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
