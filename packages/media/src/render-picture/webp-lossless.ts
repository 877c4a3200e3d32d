import { open } from 'node:fs/promises';

const mostChunks = 64;
const riffHeader = 12;
const chunkHeader = 8;
// Where the first frame of an animation is, behind its place and its time.
const frameHeader = 16;

/** Whether the first picture of the WebP at `path` is coded without loss (RFC 9649 section 2). */
export async function isLosslessWebp(path: string): Promise<boolean> {
  await using file = await open(path);
  const header = Buffer.alloc(chunkHeader);
  for (let n = 0, at = riffHeader; n < mostChunks; n += 1) {
    const { bytesRead } = await file.read(header, 0, chunkHeader, at);
    const type = header.toString('latin1', 0, 4);
    if (bytesRead < chunkHeader || type === 'VP8 ') return false;
    if (type === 'VP8L') return true;
    const length = header.readUInt32LE(4);
    at += chunkHeader + (type === 'ANMF' ? frameHeader : length + (length % 2));
  }
  return false;
}
