/** A process that sends uploads when its parent starts it. It signs all proofs first, and is not measured. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { HttpResponse, Load, LoadResult } from './load.ts';
import { formOf, uploadHeaders, uploadPathOf } from './upload-request.ts';

process.on('message', async (load: Load | 'go') => {
  if (load === 'go') start.resolve();
  else process.send?.(await generate(load));
});
process.on('disconnect', () => process.exit());
const start = Promise.withResolvers<void>();

async function generate({ kind, ports, media, uploads, connections }: Load): Promise<LoadResult> {
  const form = formOf(media);
  const bodyBytes = form.reduce((sum, chunk) => sum + chunk.length, 0);
  const ways = Array.from({ length: connections }, (_, n) => {
    const share = Math.floor(uploads / connections) + (n < uploads % connections ? 1 : 0);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const target = {
      agent,
      host: '127.0.0.1',
      port: ports[n % ports.length],
      path: uploadPathOf(kind),
      method: 'POST',
    };
    return Array.from({ length: share }, () => ({ ...target, headers: uploadHeaders(kind, bodyBytes) }));
  });
  process.send?.('ready');
  await start.promise;
  const latenciesMs: number[] = [];
  const responses: HttpResponse[] = [];
  const sendAll = async (requests: readonly RequestOptions[]) => {
    for (const options of requests) {
      const begin = performance.now();
      responses.push(await send(options, form).catch(({ message }: Error) => ({ status: 0, body: message })));
      latenciesMs.push(performance.now() - begin);
    }
  };
  await Promise.all(ways.map(sendAll));
  return { latenciesMs, responses };
}

/** @throws Error if the connection closes before the response is complete */
async function send(options: RequestOptions, form: readonly Buffer[]): Promise<HttpResponse> {
  const sent = request(options).on('error', () => {});
  // At once, so that head and form leave together. The chunks of large forms are the same bytes, so the queue takes no memory.
  for (const chunk of form) sent.write(chunk);
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}
