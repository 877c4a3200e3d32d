import { createServer, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '@echodrop/testkit/servers/listen';

/** A proxy that splits lists of an S3 store into pages of `pageLength` objects, each after an empty page, as S3 may do. It accepts lists only. */
export async function startShortPages(
  target: string,
  pageLength: number,
): Promise<AsyncDisposable & { endpoint: string }> {
  const lists: string[][] = [];
  let sendsEmpty = false;
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', target).searchParams;
    const sendPage = (list: number, from: number) => {
      sendsEmpty = !sendsEmpty;
      const length = sendsEmpty ? 0 : Math.min(pageLength, Number(query.get('max-keys')));
      const objects = lists[list] ?? [];
      const end = from + length;
      const page = `<IsTruncated>${end < objects.length}</IsTruncated><NextContinuationToken>${list}/${end}</NextContinuationToken>`;
      const body = `<ListBucketResult>${page}${objects.slice(from, end).join('')}</ListBucketResult>`;
      response.writeHead(200, { 'Content-Type': 'application/xml' }).end(body);
    };
    const token = query.get('continuation-token');
    if (token !== null) {
      const [list = 0, from = 0] = token.split('/').map(Number);
      sendPage(list, from);
      return;
    }
    const forwarded = send(
      `${target}${request.url}`,
      { method: request.method, headers: request.headers },
      async (upstream) => {
        sendPage(lists.push((await text(upstream)).match(/<Contents>.*?<\/Contents>/gs) ?? []) - 1, 0);
      },
    );
    request.pipe(forwarded);
  });
  const { origin, [Symbol.asyncDispose]: dispose } = await listen(server);
  return { endpoint: origin, [Symbol.asyncDispose]: dispose };
}
