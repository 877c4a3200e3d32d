import { mediaTypes } from '@echodrop/media/detect-media-type';

/** The image record (docs/reference/interface.md section 2), in JSON and XML. */
const image = {
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

const imagePage = {
  type: 'object',
  xml: { name: 'media' },
  required: ['media'],
  properties: {
    media: { type: 'array', items: { $ref: '#/components/schemas/Image' } },
    next: { type: 'string', description: 'The value of `after` for the next page; missing on the last page.' },
  },
} as const;

/** In XML each record is an element. */
const imagePageXml = {
  type: 'object',
  xml: { name: 'media' },
  properties: {
    image: { type: 'array', items: { $ref: '#/components/schemas/Image' } },
    next: imagePage.properties.next,
  },
} as const;

/** On every response. */
export const requestIdHeader = {
  'X-Request-Id': {
    required: true,
    description: 'Identifies this response; also in the log.',
    schema: { type: 'string', format: 'uuid' },
  },
} as const;

/** On every response of a resumable upload. */
export const tusHeader = {
  'Cache-Control': { description: 'Of resumable uploads.', schema: { type: 'string', const: 'no-store' } },
  'Tus-Resumable': { description: 'Of resumable uploads.', schema: { type: 'string', const: '1.0.0' } },
} as const;

export const recordSchemas = { Image: image, ImagePage: imagePage, ImagePageXml: imagePageXml };

export const recordResponses = {
  Uploaded: responseWith('The record of the media.', 'Image', 'Image'),
  Listed: responseWith('A page of the records of the user, newest first.', 'ImagePage', 'ImagePageXml'),
  Removed: { description: 'Deleted: all its addresses respond with 410.', headers: requestIdHeader },
};

function responseWith(description: string, json: keyof typeof recordSchemas, xml: keyof typeof recordSchemas) {
  const content = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } });
  return {
    description,
    headers: requestIdHeader,
    content: { 'application/json': content(json), 'application/xml': content(xml) },
  };
}
