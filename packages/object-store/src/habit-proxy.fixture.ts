import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Secret } from '@echodrop/service/secret';
import { listen } from '@echodrop/testkit/servers/listen';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import type { Answer, S3Request } from './habit-memory.fixture.ts';
import { HabitState } from './habit-state.fixture.ts';
import type { Fault, Habit } from './habits.fixture.ts';
import { S3Signer } from './s3/sign-s3.ts';

/**
 * A proxy in front of a MinIO that has habits of other stores, as long as they are in `has`. It signs each request itself, since it changes them.
 */
export async function startHabitProxy(
  minio: Pick<RunningMinio, 'endpoint' | 'region' | 'accessKey' | 'secretKey'>,
  has: readonly (Habit | Fault)[],
): Promise<AsyncDisposable & { readonly endpoint: string; readonly requests: number }> {
  const { hostname, port, host } = new URL(minio.endpoint);
  const keys = { accessKey: new Secret(minio.accessKey), secretKey: new Secret(minio.secretKey) };
  const signer = new S3Signer({ host, region: minio.region, ...keys });
  const state = new HabitState(has);
  const forward = async ({ method, url, headers, body }: S3Request): Promise<Answer> => {
    const signed = Object.fromEntries(
      Object.entries(headers).filter(([name]) => name.startsWith('x-amz-checksum') || name === 'x-amz-copy-source'),
    ) as Record<string, string>;
    const plain = Object.fromEntries(
      Object.entries(headers).filter(([name]) => !name.startsWith('x-amz-') && !ownHeaders.includes(name)),
    );
    const search = url.search
      .slice(1)
      .split('&')
      .sort()
      .map((pair) => (pair === '' || pair.includes('=') ? pair : `${pair}=`));
    const path = `${url.pathname}${search[0] ? `?${search.join('&')}` : ''}`;
    const all = {
      ...plain,
      ...signer.sign(method, url.pathname, search.join('&'), signed),
      'content-length': body.length,
    };
    return new Promise((resolve, reject) => {
      const onward = send({ hostname, port, method, path, headers: all }, async (response) => {
        resolve({ status: response.statusCode ?? 502, headers: response.headers, body: await buffer(response) });
      });
      onward.on('error', reject).end(body);
    });
  };
  const respond = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(incoming);
    const url = new URL(incoming.url ?? '/', minio.endpoint);
    const request = { method: incoming.method ?? 'GET', url, headers: { ...incoming.headers }, body };
    const { status, headers, body: content } = await state.pass(request, forward);
    const { 'transfer-encoding': _, connection: __, ...others } = headers;
    response.writeHead(status, { ...others, ...(incoming.method !== 'HEAD' && { 'content-length': content.length }) });
    response.end(incoming.method === 'HEAD' ? undefined : content);
  };
  let requests = 0;
  const server = createServer((incoming, response) => {
    requests += 1;
    respond(incoming, response).catch(() => response.destroy());
  });
  const { origin: endpoint, [Symbol.asyncDispose]: dispose } = await listen(server);
  return {
    endpoint,
    get requests() {
      return requests;
    },
    [Symbol.asyncDispose]: dispose,
  };
}

const ownHeaders = ['host', 'authorization', 'connection', 'transfer-encoding', 'content-length', 'expect'];
