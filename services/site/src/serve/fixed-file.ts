import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { RequestHandler } from 'express';

/** Serves a text file that is read once, with the content type of its name. */
export function fixedFile(file: URL): RequestHandler {
  const content = readFileSync(file, 'utf8');
  return (_request, response) => {
    // A sandboxed frame has an opaque origin, so the player's style is cross-origin to it.
    response.set({ 'Cache-Control': 'public, max-age=3600', 'Cross-Origin-Resource-Policy': 'cross-origin' });
    response.type(basename(file.pathname)).send(content);
  };
}
