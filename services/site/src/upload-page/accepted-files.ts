import { contentTypeOf, mediaTypes } from '@echodrop/media/detect-media-type';
import { knownExtensions } from '../find/direct-address.ts';

const otherExtensions =
  'jfif jpe pjp pjpeg mpo apng hif heics avifs dib qt f4v 3gpp 3gpp2 divx m1v m2v mpe vob mts m2ts ogg ogm asf';

// As browsers name them. Most files are known by their extension.
const otherContentTypes =
  'image/jpg image/pjpeg image/apng image/heif image/heic-sequence image/heif-sequence image/x-ms-bmp image/x-bmp ' +
  'video/x-m4v video/3gpp2 video/x-matroska video/avi video/vnd.avi video/msvideo video/x-ms-asf application/ogg';

/** The extensions of files that the page sends, whatever their type. */
export const acceptedExtensions: readonly string[] = [...knownExtensions, ...otherExtensions.split(' ')];

/** The content types of files with another extension, or none, that the page sends. */
export const acceptedContentTypes: readonly string[] = [
  ...mediaTypes.map(contentTypeOf),
  ...otherContentTypes.split(' '),
];
