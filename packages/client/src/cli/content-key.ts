import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';

interface Content {
  readonly media: Blob;
  readonly account: string;
  readonly service: string;
  readonly message: string;
  readonly alt: string | undefined;
}

/**
 * Names an upload by what it publishes: the same file with the same text, by the same user to the same service, has the same key, however its
 * address is written. It is the Idempotency-Key and the name in the ledger. @throws NotReadableError if its file changes meanwhile
 */
export async function contentKey({ media, account, service, message, alt }: Content): Promise<string> {
  const content = createHash('sha256');
  await pipeline(media.stream(), content);
  const address = new URL(service).href.replace(/\/+$/, '');
  const parts = [address, account, message, alt?.trim() || null, content.digest('hex')];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
