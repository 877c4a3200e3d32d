import { hash } from 'node:crypto';
import { request as send } from 'node:http';
import { patienceMs } from './patience.ts';
import { type Stack, sandbox } from './start-stack.ts';
import { echoHeaders } from './upload.ts';
import { waitUntil } from './wait-until.ts';

type Target = Pick<Stack, 'gateway' | 'provider'>;
type Headers = Readonly<Record<string, string>>;

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** `Upload-Metadata` of an upload with the stack's API key. */
export function tusMetadata(fields: Headers = {}): string {
  return Object.entries({ key: sandbox.apiKey, message: 'in pieces', ...fields })
    .map(([name, value]) => `${name} ${base64(value)}`)
    .join(',');
}

/** Sends a request of the tus protocol as the sandbox user. */
export async function sendTus(
  { gateway, provider }: Target,
  method: string,
  path: string,
  headers: Headers = {},
  body?: RequestInit['body'],
) {
  const all = { ...echoHeaders({ provider }), 'Tus-Resumable': '1.0.0', ...headers };
  const response = await fetch(new URL(path, gateway), { method, headers: all, ...(body && { body, duplex: 'half' }) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export function createTus(target: Target, length: number, headers: Headers = {}) {
  return sendTus(target, 'POST', '/files/', {
    'Upload-Length': `${length}`,
    'Upload-Metadata': tusMetadata(),
    ...headers,
  });
}

export function patchTus(
  target: Target,
  path: string,
  offset: number,
  body: RequestInit['body'],
  headers: Headers = {},
) {
  const type = 'application/offset+octet-stream';
  return sendTus(target, 'PATCH', path, { 'Upload-Offset': `${offset}`, 'Content-Type': type, ...headers }, body);
}

/** Sends a piece with a larger Content-Length, and closes the connection. */
export async function patchAndCut({ gateway: origin, provider }: Target, path: string, offset: number, piece: Buffer) {
  const headers = {
    ...echoHeaders({ provider }),
    'Tus-Resumable': '1.0.0',
    'Upload-Offset': `${offset}`,
    'Content-Type': 'application/offset+octet-stream',
    'Content-Length': piece.length + 1,
  };
  const request = send(new URL(path, origin), { method: 'PATCH', headers, agent: false }).on('error', () => {});
  await new Promise<void>((resolve) => request.write(piece, () => resolve()));
  request.socket?.resetAndDestroy();
}

type LeaseTarget = Pick<Stack, 'provider' | 'redis'>;

// Of the sandbox user.
function leaseKey({ provider }: LeaseTarget, path: string): string {
  const owner = hash('sha256', JSON.stringify([provider, `${sandbox.userId}`])).slice(0, 32);
  return `echodrop:resumable:{${path.split('/').at(-1)}}:${owner}:writer`;
}

/** Whether a writer has the lease of an upload of the sandbox user. */
export async function hasLease(target: LeaseTarget, path: string): Promise<boolean> {
  return (await target.redis.command('EXISTS', leaseKey(target, path))) === '1';
}

/** Takes the free lease of an upload of the sandbox user, like a writer that is never silent. Disposing releases it. */
export async function holdLease(target: LeaseTarget, path: string): Promise<AsyncDisposable> {
  const { redis } = target;
  const key = leaseKey(target, path);
  const outcome = await redis.command('SET', key, 'held by a test', 'NX', 'PX', `${2 * patienceMs}`);
  if (outcome !== 'OK') throw new Error('another writer has the lease');
  return { [Symbol.asyncDispose]: async () => void (await redis.command('DEL', key)) };
}

/** Resolves once a gateway has the lease of an upload of the sandbox user. */
export async function waitForLease(target: LeaseTarget, path: string): Promise<void> {
  await waitUntil('the lease', () => hasLease(target, path));
}
