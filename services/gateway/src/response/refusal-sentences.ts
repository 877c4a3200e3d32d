import type { UnsupportedReason } from '@echodrop/media/outcomes';

/** Why media is refused; `{type}` is the detected type. */
export const unsupportedSentences = {
  unknown_type: 'Unsupported file type. Use JPEG, PNG, GIF, WebP, HEIC, MP4 or MOV.',
  type_off: 'This server does not accept {type} files.',
  broken: 'The file is damaged or incomplete.',
  no_picture: 'The file has no video track. Audio files are not supported.',
  codec: 'This codec is not supported. For video, use H.264 with AAC audio.',
  too_many_pixels: 'The image dimensions exceed the limit.',
  too_costly: 'The file is too complex to process. Re-encode it with another program.',
} as const satisfies Record<UnsupportedReason, string>;

/** Media that precedes its credentials and exceeds what the gateway buffers without them. */
export const secretsFirst = 'Send the four credential fields before the file.';

/** Why a parameter is missing; the default is the API key. */
export const missingSentences = {
  key: 'Missing parameter: key.',
  message: 'Missing parameter: message.',
  media: 'Missing parameter: media, a non-empty file.',
} as const;

/** Why a form is malformed; the default is a body that ends early or is not well-formed. */
export const malformedSentences = {
  incomplete: 'Malformed or incomplete multipart form.',
  contentType: 'Content-Type must be multipart/form-data with a boundary.',
  repeated: 'Duplicate parameter.',
  tooLong: 'Parameter too long.',
  tooMany: 'Too many parameters.',
  encoding: 'A parameter is not valid UTF-8.',
} as const;
