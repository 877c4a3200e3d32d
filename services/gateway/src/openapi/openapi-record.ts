import { mediaTypes } from '@echodrop/media/media-type';

/** The image record of docs/interface.md section 2 as a schema of both its spellings. */
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

/** A page of records, in both spellings. */
export const imagePage = {
  type: 'object',
  xml: { name: 'media' },
  required: ['media'],
  properties: {
    media: { type: 'array', items: { $ref: '#/components/schemas/Image' } },
    next: {
      type: 'string',
      description: 'Ask with this as `after` for the page that follows; without it this is the last.',
    },
  },
} as const;

/** The same in XML, where each record is an element of its own. */
export const imagePageXml = {
  type: 'object',
  xml: { name: 'media' },
  properties: {
    image: { type: 'array', items: { $ref: '#/components/schemas/Image' } },
    next: imagePage.properties.next,
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

/** What a user has uploaded. */
export const listedResponse = {
  description: 'A page of the records of the user, newest first.',
  headers: requestIdHeader,
  content: {
    'application/json': { schema: { $ref: '#/components/schemas/ImagePage' } },
    'application/xml': { schema: { $ref: '#/components/schemas/ImagePageXml' } },
  },
} as const;

/** An upload was removed. */
export const removedResponse = {
  description: 'Removed: nothing of it is shown any more, and every address of it answers 410.',
  headers: requestIdHeader,
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
