import { type Bucket, sizeOf } from './stored-objects.ts';

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: string | Buffer;
}

export function xml(body: string, status = 200): Reply {
  return {
    status,
    headers: { 'Content-Type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>${body}`,
  };
}

export function refusal(status: number, code: string): Reply {
  return xml(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`, status);
}

/** The response to a GET of a bucket: its objects, or its unfinished uploads, which minio's client lists before a multipart upload. */
export function listBucket(bucket: Bucket, query: URLSearchParams): string {
  if (query.has('uploads'))
    return '<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>';
  const prefix = query.get('prefix') ?? '';
  const after = query.get('start-after') ?? '';
  const most = Number(query.get('max-keys') ?? 1000);
  const keys = [...bucket.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const contents = keys.slice(0, most).map((key) => describe(key, bucket));
  return `<ListBucketResult><IsTruncated>${keys.length > most}</IsTruncated>${contents.join('')}</ListBucketResult>`;
}

function describe(key: string, bucket: Bucket): string {
  const parts = bucket.objects.get(key) ?? [];
  const etag = `&quot;${parts[0]?.etag}&quot;`;
  return `<Contents><Key>${key}</Key><LastModified>${new Date().toISOString()}</LastModified><ETag>${etag}</ETag><Size>${sizeOf(parts)}</Size></Contents>`;
}
