/**
 * A stand-in S3 store with minimal cost: it counts calls, hashes uploads, and keeps only what the probes read. It checks no
 * signatures. `POST /-/take/<bucket>` returns the objects of a bucket and removes them.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { getObject, postObject, putObject, removeObject } from './null-s3-objects.ts';
import { listBucket, type Reply, xml } from './null-s3-replies.ts';
import { Bucket } from './stored-objects.ts';

const buckets = new Map<string, Bucket>();

const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  try {
    const { status, headers, body = '' } = await respond(request);
    response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers });
    response.end(request.method === 'HEAD' ? undefined : body);
  } catch {
    // The client has left.
    response.destroy();
  }
});
server.listen(Number(process.env['PORT']), '127.0.0.1');

async function respond(request: IncomingMessage): Promise<Reply> {
  const { method } = request;
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://null-s3');
  const [, first = '', ...rest] = pathname.split('/');
  if (first === '-') return { status: 200, body: JSON.stringify(bucketOf(rest[1] ?? '').take()) };
  const key = decodeURIComponent(rest.join('/'));
  const bucket = bucketOf(first);
  bucket.count(callOf(method, key, query));
  if (key === '') return method === 'GET' ? xml(listBucket(bucket, query)) : { status: 200 };
  if (method === 'PUT') return putObject(request, { bucket, key, query });
  if (method === 'POST') return postObject(request, { bucket, key, query });
  if (method === 'DELETE') return removeObject({ bucket, key, query });
  return getObject(request, { bucket, key, query });
}

// Every bucket exists.
function bucketOf(name: string): Bucket {
  const bucket = buckets.get(name) ?? new Bucket();
  buckets.set(name, bucket);
  return bucket;
}

/** For example `PUT media`, `POST media ?uploads`, `List blocks`. */
function callOf(method: string | undefined, key: string, query: URLSearchParams): string {
  if (key === '' && method === 'GET') return `List ${(query.get('prefix') ?? '').split('/')[0]}`.trim();
  const part = ['uploads', 'uploadId'].find((name) => query.has(name));
  return `${method} ${key.split('/')[0]}${part ? ` ?${part}` : ''}`.trim();
}
