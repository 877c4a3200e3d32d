import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { RequestHandler } from 'express';

/** Serves a text file of ours, read once; its name tells its type. */
export function fixedFile(file: URL): RequestHandler {
  const content = readFileSync(file, 'utf8');
  return (_request, response) => {
    // A frame that is sandboxed has no origin, so to itself it is another site: the player would lose its style.
    response.set({ 'Cache-Control': 'public, max-age=3600', 'Cross-Origin-Resource-Policy': 'cross-origin' });
    response.type(basename(file.pathname)).send(content);
  };
}
