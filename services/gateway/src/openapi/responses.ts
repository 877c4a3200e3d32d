import { mediaTypes } from '@echodrop/media/detect-media-type';
import { mediaIdShape } from '@echodrop/record';
import { z } from 'zod';
import { componentSchemas } from './json-schema.ts';
import { type HeaderName, headersOf } from './parameters.ts';

/** The record (docs/reference/interface.md section 2), in JSON and XML. */
const image = z
  .object({
    id: mediaIdShape.meta({ examples: ['4AaBXzv6nZ'] }),
    text: z.string().describe('The message.'),
    url: z.url().describe('The public page.'),
    width: z.int().min(1).describe('Pixels, as displayed.'),
    height: z.int().min(1).describe('Pixels, as displayed.'),
    size: z.int().min(1).describe('Bytes of the uploaded file.'),
    type: z.enum(mediaTypes),
    timestamp: z
      .string()
      .regex(/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} \+0000$/)
      .meta({ examples: ['Sat, 21 Nov 2026 12:15:18 +0000'] }),
    user: z.object({
      id: z.int().meta({ format: 'int64', description: 'May be above 2^53: read it exactly.' }),
      screen_name: z.string(),
    }),
  })
  .meta({ xml: { name: 'image' } });

const next = z.string().optional().describe('The value of `after` for the next page; missing on the last page.');
const media = { xml: { name: 'media' } };

export const recordSchemas = componentSchemas({
  Image: image,
  ImagePage: z.object({ media: z.array(image), next }).meta(media),
  // In XML each record is an element.
  ImagePageXml: z.object({ image: z.array(image).optional(), next }).meta(media),
});

/** An OpenAPI response, which also has an `X-Request-Id`. */
export function responseOf(description: string, headers: readonly HeaderName[], content?: object) {
  return { description, headers: headersOf(['X-Request-Id', ...headers]), content };
}

const reference = (name: keyof typeof recordSchemas) => ({ schema: { $ref: `#/components/schemas/${name}` } });
const record = { 'application/json': reference('Image') };
const page = { 'application/json': reference('ImagePage'), 'application/xml': reference('ImagePageXml') };
const tus = ['Cache-Control', 'Tus-Resumable'] as const;

/** The responses other than refusals, by their names in the document. */
export const responses = {
  Uploaded: responseOf('The record of the media.', [], { ...record, 'application/xml': reference('Image') }),
  Listed: responseOf('A page of the records of the user, newest first.', [], page),
  Removed: responseOf('Deleted: all its addresses respond with 410.', []),
  ResumableCreated: responseOf('Created.', [...tus, 'Location', 'Upload-Expires']),
  ResumableFound: responseOf('The upload exists.', [
    ...tus,
    ...(['Upload-Offset', 'Upload-Length', 'Upload-Metadata?', 'Upload-Expires'] as const),
  ]),
  ResumableStored: responseOf('The bytes are stored. With `Record-Location`, the upload is complete and published.', [
    ...tus,
    ...(['Upload-Offset', 'Upload-Expires?', 'Record-Location?'] as const),
  ]),
  ResumablePublished: responseOf(
    'The upload is complete and published. Only with `Prefer: return=representation`.',
    [...tus, 'Upload-Offset', 'Record-Location', 'Preference-Applied'],
    record,
  ),
  ResumableRecord: responseOf('The record of the published upload.', tus, record),
  ResumableDiscarded: responseOf('Discarded.', tus),
};
