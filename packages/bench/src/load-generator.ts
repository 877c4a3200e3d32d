/** A process that sends uploads when its parent starts it. It signs all proofs first, and is not measured. */
import { HttpConnection } from './http-connection.ts';
import type { Load, LoadResult } from './load.ts';
import { formOf, headOf } from './upload-request.ts';

process.on('message', async (load: Load | 'go') => {
  if (load === 'go') start.resolve();
  else process.send?.(await generate(load));
});
process.on('disconnect', () => process.exit());
const start = Promise.withResolvers<void>();

async function generate({ kind, ports, media, uploads, connections }: Load): Promise<LoadResult> {
  const form = formOf(media);
  const bodyBytes = form.reduce((sum, chunk) => sum + chunk.length, 0);
  const ways = await Promise.all(
    Array.from({ length: connections }, async (_, n) => {
      const port = ports[n % ports.length] ?? 0;
      const share = Math.floor(uploads / connections) + (n < uploads % connections ? 1 : 0);
      const heads = Array.from({ length: share }, () => headOf(kind, port, bodyBytes));
      return { connection: await HttpConnection.open(port), heads };
    }),
  );
  process.send?.('ready');
  await start.promise;
  const latenciesMs: number[] = [];
  const responses: LoadResult['responses'][number][] = [];
  const sendAll = async ({ connection, heads }: (typeof ways)[number]) => {
    for (const head of heads) {
      const begin = performance.now();
      responses.push(await connection.send(head, form).catch(({ message }: Error) => ({ status: 0, body: message })));
      latenciesMs.push(performance.now() - begin);
    }
    connection[Symbol.dispose]();
  };
  await Promise.all(ways.map(sendAll));
  return { latenciesMs, responses };
}
