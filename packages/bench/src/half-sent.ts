import { RawClient } from '@echodrop/testkit/raw-client';
import type { System } from './systems.ts';
import { uploadHeaders, uploadPathOf } from './upload-request.ts';

export interface HeldRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
}

/** An upload as a form of so many bytes, with a fresh proof. */
export function newUpload(formBytes: number): HeldRequest {
  return { path: uploadPathOf('echodrop'), headers: uploadHeaders('echodrop', formBytes) };
}

/** Sends half of a body with each request, waits for `whileHeld`, and sends the rest. @returns the responses that refuse */
export async function holdHalfSent(
  { ports }: System,
  requests: readonly HeldRequest[],
  body: Buffer,
  whileHeld: () => Promise<void>,
): Promise<string[]> {
  const half = body.length / 2;
  await using opened = new AsyncDisposableStack();
  const clients = await Promise.all(
    requests.map(async ({ path, headers }) => {
      const client = opened.use(await RawClient.connect(`http://127.0.0.1:${ports[0]}`));
      client.head(path, headers, body.length);
      return client;
    }),
  );
  await Promise.all(clients.map((client) => client.flush(body.subarray(0, half))));
  await whileHeld();
  await Promise.all(clients.map((client) => client.flush(body.subarray(half))));
  const responses = await Promise.all(clients.map((client) => client.response()));
  return responses.filter(({ status }) => status !== 200).map(({ status, body }) => `${status} ${body}`);
}
