import { mediaTypes } from '@echodrop/media/media-type';

/** The image record of INTERFACE section 2 as a schema of both its spellings. */
export const image = {
  type: 'object',
  xml: { name: 'image' },
  required: ['id', 'text', 'url', 'width', 'height', 'size', 'type', 'timestamp', 'user'],
  properties: {
    id: { type: 'string', examples: ['4AaBXzv6nZ'] },
    text: { type: 'string', description: 'The message.' },
    url: { type: 'string', format: 'uri', description: 'The public page.' },
    width: { type: 'integer', minimum: 1, description: 'Pixels, as displayed.' },
    height: { type: 'integer', minimum: 1, description: 'Pixels, as displayed.' },
    size: { type: 'integer', minimum: 1, description: 'Bytes of the uploaded file.' },
    type: { type: 'string', enum: mediaTypes },
    timestamp: {
      type: 'string',
      pattern: String.raw`^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} \+0000$`,
      examples: ['Sat, 21 Nov 2026 12:15:18 +0000'],
    },
    user: {
      type: 'object',
      required: ['id', 'screen_name'],
      properties: {
        id: { type: 'integer', format: 'int64', description: 'May be above 2^53: read it exactly.' },
        screen_name: { type: 'string' },
      },
    },
  },
} as const;

/** On every answer. */
export const requestIdHeader = {
  'X-Request-Id': {
    required: true,
    description: 'The name of this answer, new each time; the log has it too.',
    schema: { type: 'string', format: 'uuid' },
  },
} as const;

/** The one answer that means success. */
export const uploadedResponse = {
  description: 'Uploaded: the record of the media.',
  headers: requestIdHeader,
  content: {
    'application/json': { schema: { $ref: '#/components/schemas/Image' } },
    'application/xml': { schema: { $ref: '#/components/schemas/Image' } },
  },
} as const;
