/**
 * Frees the memory of a chunk that has no further reader; the chunk is empty from then on. V8 counts objects, not the bytes that they hold, so it
 * would keep tens of MiB until its next major collection. Does nothing to a chunk whose memory has other bytes, too.
 */
export function freeChunk({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
