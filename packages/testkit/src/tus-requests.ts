import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
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

interface SlowPatch extends AsyncDisposable {
  /** Sends the rest. @returns the status */
  finish(): Promise<number>;
}

const slowPatch = `
  const { request } = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const { address, headers, body } = workerData;
  const patch = request(address, { method: 'PATCH', headers }, (response) =>
    response.resume().on('end', () => parentPort.postMessage(response.statusCode)),
  );
  let sent = 0;
  const sending = setInterval(() => patch.write(body.subarray(sent, (sent += 200))), 100);
  parentPort.once('message', () => {
    clearInterval(sending);
    patch.end(body.subarray(sent));
  });`;

/**
 * Sends a new upload, 200 bytes every 100 ms. From a thread of its own: a client that is silent for a second gives its lease up, and
 * a test can be as busy.
 */
export function patchSlowly({ gateway, provider }: Target, path: string, body: Uint8Array): SlowPatch {
  const type = 'application/offset+octet-stream';
  const tus = { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0', 'Content-Type': type };
  const headers = { ...echoHeaders({ provider }), ...tus };
  const workerData = { address: new URL(path, gateway).href, headers, body };
  const worker = new Worker(slowPatch, { eval: true, execArgv: [], workerData });
  return {
    async finish() {
      worker.postMessage('finish');
      const [status] = await once(worker, 'message');
      return status;
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

/** Resolves once a gateway has the lease of an upload of the sandbox user. */
export async function waitForLease(
  { provider, redis }: Pick<Stack, 'provider' | 'redis'>,
  path: string,
): Promise<void> {
  const lease = `echodrop:resumable:{${path.split('/').at(-1)}}:${provider} ${sandbox.userId}:writer`;
  await waitUntil('the lease', async () => (await redis.command('EXISTS', lease)) === '1');
}
