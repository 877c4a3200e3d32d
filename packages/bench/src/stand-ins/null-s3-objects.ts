import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Reply, refusal, xml } from './null-s3-replies.ts';
import { type Bucket, etagOf, sizeOf, Written } from './stored-objects.ts';

interface ObjectRequest {
  readonly bucket: Bucket;
  readonly key: string;
  readonly query: URLSearchParams;
}

const MiB = 1024 * 1024;
// What a rendition-worker reads of a photo; of larger objects, what a probe reads.
const keptWhole = 16 * MiB;
const keptOfLarger = 4 * MiB;

let uploadsBegun = 0;

/** Writes an object or a part of one. */
export async function putObject(request: IncomingMessage, { bucket, key, query }: ObjectRequest): Promise<Reply> {
  const part = Number(query.get('partNumber') ?? 1);
  const size = Number(request.headers['content-length']);
  const written = new Written(part > 1 ? 0 : size > keptWhole ? keptOfLarger : size);
  request.on('data', (chunk: Buffer) => written.add(chunk));
  await once(request, 'end');
  if (written.size !== size) return refusal(400, 'IncompleteBody');
  const { checksum } = written;
  const expected = request.headers['x-amz-checksum-crc32'] ?? checksum;
  if (expected !== checksum) return refusal(400, 'XAmzContentChecksumMismatch');
  const upload = query.get('uploadId');
  if (upload !== null) {
    const parts = bucket.uploads.get(upload);
    if (!parts) return refusal(404, 'NoSuchUpload');
    parts.set(part, written);
  } else {
    const there = request.headers['if-none-match'] === '*' ? bucket.objects.get(key) : undefined;
    if (there) {
      const refused = refusal(412, 'PreconditionFailed');
      return { ...refused, headers: { ...refused.headers, ETag: `"${etagOf(there)}"` } };
    }
    bucket.objects.set(key, [written]);
  }
  return { status: 200, headers: { ETag: `"${written.etag}"`, 'x-amz-checksum-crc32': checksum } };
}

/** Begins or completes a multipart upload. */
export async function postObject(request: IncomingMessage, { bucket, key, query }: ObjectRequest): Promise<Reply> {
  const body = await text(request);
  const upload = query.get('uploadId');
  if (upload === null) {
    const id = `upload-${++uploadsBegun}`;
    bucket.uploads.set(id, new Map());
    return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }
  const listed = body.matchAll(/<Part>.*?<\/Part>/gs).map(([part]) => ({
    number: Number(/<PartNumber>(\d+)/.exec(part)?.[1]),
    etag: /<ETag>(?:&quot;|")?([^<"&]*)/.exec(part)?.[1] ?? '',
  }));
  const parts = bucket.complete(key, upload, [...listed]);
  if (!parts) return refusal(400, 'InvalidPart');
  return xml(
    `<CompleteMultipartUploadResult><Location>/</Location><Bucket>b</Bucket><Key>${key}</Key><ETag>${etagOf(parts)}</ETag></CompleteMultipartUploadResult>`,
  );
}

/** Removes an object or an unfinished upload. */
export function removeObject({ bucket, key, query }: ObjectRequest): Reply {
  const upload = query.get('uploadId');
  if (upload === null) bucket.objects.delete(key);
  else bucket.uploads.delete(upload);
  return { status: 204 };
}

/** An object or a range of it; of a large one only the kept bytes. */
export function getObject({ method, headers: { range } }: IncomingMessage, { bucket, key }: ObjectRequest): Reply {
  const parts = bucket.objects.get(key);
  if (!parts) return refusal(404, 'NoSuchKey');
  const size = sizeOf(parts);
  const etag = etagOf(parts);
  const headers = { ETag: `"${etag}"`, 'Last-Modified': new Date().toUTCString() };
  if (method === 'HEAD') return { status: 200, headers: { ...headers, 'Content-Length': size } };
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  const start = Number(from ?? 0);
  const end = Math.min(to ? Number(to) + 1 : size, size);
  if (from !== undefined && start >= size) return refusal(416, 'InvalidRange');
  const body = bucket.read(parts, start, end);
  if (!body) return refusal(500, 'NotKept');
  if (from === undefined) return { status: 200, headers, body };
  return { status: 206, headers: { ...headers, 'Content-Range': `bytes ${start}-${end - 1}/${size}` }, body };
}
