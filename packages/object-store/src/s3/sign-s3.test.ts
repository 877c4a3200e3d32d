import { Secret } from '@echodrop/service/secret';
import { Client } from 'minio';
import { expect, test, vi } from 'vitest';
import { S3Signer } from './sign-s3.ts';

const keys = { accessKey: 'access', secretKey: 'secret' };
const region = 'eu-central-1';
const amz = { 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-object-attributes': 'ETag,ObjectSize' };

/** The headers that MinIO's client sends for the same request. */
async function signedByMinio(query: string): Promise<Record<string, string>> {
  const seen = Promise.withResolvers<Record<string, string>>();
  const request = ({ headers }: { headers: Record<string, string> }) => {
    seen.resolve(headers);
    throw new Error('seen');
  };
  const transport = { request } as never;
  const client = new Client({ endPoint: 'store.example', port: 9000, useSSL: true, region, ...keys, transport });
  const options = {
    method: 'PUT',
    bucketName: 'bucket',
    objectName: 'media/abc',
    query,
    headers: { 'content-type': 'a/b', ...amz },
  };
  await client.makeRequestAsync(options, 'x').catch(() => {});
  return seen.promise;
}

test.each(['', 'partNumber=2&uploadId=a%2Fb%2A'])(
  'a request with the query "%s" has the signature of MinIO\'s client, before and after midnight',
  async (query) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const signer = new S3Signer({
      host: 'store.example:9000',
      region,
      accessKey: new Secret(keys.accessKey),
      secretKey: new Secret(keys.secretKey),
    });
    for (const now of ['2026-11-22T23:59:59.900Z', '2026-11-23T00:00:00.100Z']) {
      vi.setSystemTime(new Date(now));
      const theirs = await signedByMinio(query);
      const ours = signer.sign('PUT', '/bucket/media/abc', query, amz);
      expect(theirs['authorization']).toBeDefined();
      expect(ours).toMatchObject({ authorization: theirs['authorization'], 'x-amz-date': theirs['x-amz-date'] });
    }
  },
);
