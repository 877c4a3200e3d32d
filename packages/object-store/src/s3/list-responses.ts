import { type ListedObject, StoreUnavailable, type UnfinishedWrite } from '../object-store.ts';

/** A page of ListObjectsV2. */
interface ObjectPage {
  readonly objects: ListedObject[];
  readonly isTruncated: boolean;
  /** Continues the list after a page without objects. */
  readonly token: string;
}

/** A page of ListMultipartUploads. */
interface UploadPage {
  readonly uploads: UnfinishedWrite[];
  /** Where the next page begins; undefined on the last. */
  readonly next: { readonly key: string; readonly id: string } | undefined;
}

/** @throws StoreUnavailable if `xml` lacks something */
export function readObjectPage(xml: Uint8Array): ObjectPage {
  const text = Buffer.from(xml).toString();
  const objects = elementsOf(text, 'Contents').map((content) => ({
    key: decodeKey(required(content, 'Key')),
    size: Number(required(content, 'Size')),
    etag: required(content, 'ETag').replaceAll('"', ''),
    writtenAt: new Date(required(content, 'LastModified')),
  }));
  return { objects, isTruncated: isTruncated(text), token: textOf(text, 'NextContinuationToken') ?? '' };
}

/** @throws StoreUnavailable if `xml` lacks something */
export function readUploadPage(xml: Uint8Array): UploadPage {
  const text = Buffer.from(xml).toString();
  const uploads = elementsOf(text, 'Upload').map((upload) => ({
    id: required(upload, 'UploadId'),
    key: decodeKey(required(upload, 'Key')),
    writtenAt: new Date(required(upload, 'Initiated')),
  }));
  if (!isTruncated(text)) return { uploads, next: undefined };
  const next = { key: decodeKey(required(text, 'NextKeyMarker')), id: required(text, 'NextUploadIdMarker') };
  return { uploads, next };
}

function isTruncated(text: string): boolean {
  return required(text, 'IsTruncated') === 'true';
}

function elementsOf(text: string, name: string): string[] {
  return Array.from(text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs')), ([, content = '']) => content);
}

function required(text: string, name: string): string {
  const value = textOf(text, name);
  if (value === undefined) throw new StoreUnavailable('object store sent an invalid list');
  return value;
}

function textOf(text: string, name: string): string | undefined {
  const [, value] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(text) ?? [];
  return value?.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi, (_, decimal, hex, name) =>
    name === undefined
      ? String.fromCodePoint(Math.min(decimal ? Number(decimal) : Number.parseInt(hex, 16), 0x10ffff))
      : characters[name as keyof typeof characters],
  );
}

const characters = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

// `encoding-type=url`: otherwise XML cannot have all characters of a key that another application wrote.
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return key;
  }
}
