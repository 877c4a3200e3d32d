import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import { type ListedObject, maxListLength, StoreUnavailable, type UnfinishedWrite } from '../object-store.ts';

/** A page of ListObjectsV2. */
export interface ObjectPage {
  readonly objects: ListedObject[];
  /** Folders, if the request had a delimiter. */
  readonly folders: string[];
  readonly isTruncated: boolean;
  /** The token that continues the list after a page without objects. */
  readonly token: string;
}

/** A page of ListMultipartUploads. */
interface UploadPage {
  readonly uploads: UnfinishedWrite[];
  /** Where the next page begins; undefined on the last. */
  readonly next: { readonly key: string; readonly id: string } | undefined;
}

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  trimValues: false,
  // This option decodes numeric references, too, as in the ETag `&#34;0cc1&#34;`.
  htmlEntities: true,
  isArray: (name) => name === 'Contents' || name === 'CommonPrefixes' || name === 'Upload',
});

const time = z
  .string()
  .transform((text) => new Date(text))
  .pipe(z.date());
// Directories of some stores have an empty tag.
const listedTag = z
  .string()
  .transform((text) => text.replaceAll('"', ''))
  .pipe(z.string().regex(/^[!-~]{0,1024}$/));
const size = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const isTruncated = z.enum(['true', 'false']).transform((text) => text === 'true');
// Lists are requested with `encoding-type=url`: otherwise XML cannot have all characters of a key that another application wrote.
const key = z.string().transform(decodeKey);

const objectPageShape = z.object({
  ListBucketResult: z.object({
    IsTruncated: isTruncated,
    NextContinuationToken: z.string().default(''),
    Contents: z
      .array(z.object({ Key: key, Size: size, ETag: listedTag, LastModified: time }))
      .max(maxListLength)
      .default([]),
    CommonPrefixes: z
      .array(z.object({ Prefix: key }))
      .max(maxListLength)
      .default([]),
  }),
});

const uploadPageShape = z.object({
  ListMultipartUploadsResult: z.object({
    IsTruncated: isTruncated,
    NextKeyMarker: key.optional(),
    NextUploadIdMarker: z.string().optional(),
    Upload: z
      .array(z.object({ Key: key, UploadId: z.string().min(1), Initiated: time }))
      .max(maxListLength)
      .default([]),
  }),
});

const completionShape = z.object({
  CompleteMultipartUploadResult: z.object({
    ETag: listedTag.pipe(z.string().min(1)),
    ChecksumCRC32: z.string().optional(),
  }),
});

const newUploadShape = z.object({ InitiateMultipartUploadResult: z.object({ UploadId: z.string().min(1) }) });

const errorShape = z.object({ Error: z.object({ Code: z.string().regex(/^\w{1,64}$/) }) });

/** @throws StoreUnavailable if `xml` is no such page */
export function readObjectPage(xml: Buffer): ObjectPage {
  const { Contents, CommonPrefixes, IsTruncated, NextContinuationToken } = decodeList(
    xml,
    objectPageShape,
  ).ListBucketResult;
  const objects = Contents.map((each) => ({
    key: each.Key,
    size: each.Size,
    etag: each.ETag,
    writtenAt: each.LastModified,
  }));
  const folders = CommonPrefixes.map(({ Prefix }) => Prefix);
  return { objects, folders, isTruncated: IsTruncated, token: NextContinuationToken };
}

/** @throws StoreUnavailable if `xml` is no such page */
export function readUploadPage(xml: Buffer): UploadPage {
  const page = decodeList(xml, uploadPageShape).ListMultipartUploadsResult;
  const uploads = page.Upload.map((each) => ({ id: each.UploadId, key: each.Key, writtenAt: each.Initiated }));
  if (!page.IsTruncated) return { uploads, next: undefined };
  const { NextKeyMarker: key, NextUploadIdMarker: id } = page;
  if (key === undefined || id === undefined) throw invalidList();
  return { uploads, next: { key, id } };
}

/** Tag and CRC-32, if any, of a completed multipart upload; undefined if `xml` is another response. */
export function readCompletion(xml: Buffer): { etag: string; crc32: string | undefined } | undefined {
  const completion = decode(xml, completionShape)?.CompleteMultipartUploadResult;
  return completion && { etag: completion.ETag, crc32: completion.ChecksumCRC32 };
}

/** The id of a new multipart upload; undefined if `xml` is another response. */
export function readUploadId(xml: Buffer): string | undefined {
  return decode(xml, newUploadShape)?.InitiateMultipartUploadResult.UploadId;
}

/** The code of an error, such as `NoSuchKey`; undefined if `xml` is another response. */
export function readErrorCode(xml: Buffer): string | undefined {
  return decode(xml, errorShape)?.Error.Code;
}

/** Undefined if `xml` is malformed, refused by the parser (deep nesting, `__proto__`) or has another shape. */
function decode<T extends z.ZodType>(xml: Buffer, shape: T): z.output<T> | undefined {
  try {
    return shape.safeParse(parser.parse(xml.toString())).data;
  } catch {
    return undefined;
  }
}

/** @throws StoreUnavailable if `xml` has another shape */
function decodeList<T extends z.ZodType>(xml: Buffer, shape: T): z.output<T> {
  const list = decode(xml, shape);
  if (list === undefined) throw invalidList();
  return list;
}

export function invalidList(): StoreUnavailable {
  return new StoreUnavailable('object store sent an invalid list');
}

function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
