import { signEcho } from '@echodrop/testkit/sign-echo';
import { sandbox } from '@echodrop/testkit/start-stack';
import { tusMetadata } from '@echodrop/testkit/tus-requests';
import type { HttpResponse, Load, LoadResult } from './load.ts';
import { bytesOf } from './media.ts';
import { providerAddress } from './upload-request.ts';

type Proof = ReturnType<typeof newProof>;

const pieceBytes = 8 * 2 ** 20;

/** Sends uploads in pieces, each to the end before the next on its connection. Like `generateLoad`, but from this process. */
export async function sendPieces({ ports, media, uploads, connections }: Load, begun = () => {}): Promise<LoadResult> {
  const bytes = Buffer.concat(bytesOf(media));
  const latenciesMs: number[] = [];
  const responses: HttpResponse[] = [];
  begun();
  let remaining = uploads;
  const sendAll = async (port: number) => {
    while (remaining > 0) {
      remaining -= 1;
      const begin = performance.now();
      responses.push(await sendOne(port, bytes).catch(({ message }: Error) => ({ status: 0, body: message })));
      latenciesMs.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, n) => sendAll(ports[n % ports.length] ?? 0)));
  return { latenciesMs, responses };
}

/** @returns the path of the upload @throws Error if it is refused */
export async function createResumable(port: number, size: number, proof: Proof): Promise<string> {
  const headers = { ...proof, 'Upload-Length': `${size}`, 'Upload-Metadata': tusMetadata({ message: 'a caption' }) };
  const response = await fetch(`http://127.0.0.1:${port}/files/`, { method: 'POST', headers });
  const location = response.headers.get('location');
  if (!location) throw new Error(`${response.status} ${await response.text()}`);
  return location;
}

/** The headers of a PATCH request, whose last one gets the record. */
export function pieceHeaders(offset: number, proof: Proof): Record<string, string> {
  const type = { 'Content-Type': 'application/offset+octet-stream', Prefer: 'return=representation' };
  return { ...proof, ...type, 'Upload-Offset': `${offset}` };
}

async function sendOne(port: number, bytes: Buffer<ArrayBuffer>): Promise<HttpResponse> {
  const proof = newProof();
  const path = await createResumable(port, bytes.length, proof);
  let last: HttpResponse = { status: 0, body: '' };
  for (let offset = 0; offset < bytes.length; offset += pieceBytes) {
    const piece = bytes.subarray(offset, offset + pieceBytes);
    const request = { method: 'PATCH', headers: pieceHeaders(offset, proof), body: piece };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, request);
    last = { status: response.status, body: await response.text() };
    if (!response.ok) break;
  }
  return last;
}

/** The headers that prove the user. Like tus clients with fixed headers, one upload sends the same ones in each request. */
export function newProof() {
  return {
    'Tus-Resumable': '1.0.0',
    'X-Auth-Service-Provider': providerAddress,
    'X-Verify-Credentials-Authorization': signEcho(providerAddress, sandbox),
  };
}
