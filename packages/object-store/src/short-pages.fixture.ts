import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * A proxy in front of an S3 store that gives lists in pages of `pageLength` objects, and an empty one before each, as S3 may (ListObjectsV2,
 * `IsTruncated`). Nothing else is let through.
 */
export async function startShortPages(
  target: string,
  pageLength: number,
): Promise<AsyncDisposable & { endpoint: string }> {
  const lists: string[][] = [];
  let isEmptyTurn = false;
  const server = createServer((asked, response) => {
    const query = new URL(asked.url ?? '', target).searchParams;
    const answer = (list: number, from: number) => {
      isEmptyTurn = !isEmptyTurn;
      const length = isEmptyTurn ? 0 : Math.min(pageLength, Number(query.get('max-keys')));
      const [objects, end] = [lists[list] ?? [], from + length];
      const told = `<IsTruncated>${end < objects.length}</IsTruncated><NextContinuationToken>${list}/${end}</NextContinuationToken>`;
      const body = `<ListBucketResult>${told}${objects.slice(from, end).join('')}</ListBucketResult>`;
      response.writeHead(200, { 'Content-Type': 'application/xml' }).end(body);
    };
    const token = query.get('continuation-token');
    if (token !== null) {
      const [list = 0, from = 0] = token.split('/').map(Number);
      answer(list, from);
      return;
    }
    const passed = send(`${target}${asked.url}`, { method: asked.method, headers: asked.headers }, async (answered) => {
      answer(lists.push((await text(answered)).match(/<Contents>.*?<\/Contents>/gs) ?? []) - 1, 0);
    });
    asked.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
