import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { RequestHandler } from 'express';
import { ResponseText } from './response-text.ts';

/** Serves text files, joined, that are read once, with the content type of the first. */
export function fixedFile(...files: readonly [URL, ...URL[]]): RequestHandler {
  const content = new ResponseText(files.map((file) => readFileSync(file, 'utf8')).join('\n'));
  // After an update, a module must not import from one of the release before.
  const isScript = files[0].pathname.endsWith('.js');
  const caching = isScript ? 'no-cache' : 'public, max-age=3600';
  return (_request, response) => {
    // A sandboxed frame has an opaque origin, so the player's style is cross-origin to it.
    response.set({ 'Cache-Control': caching, 'Cross-Origin-Resource-Policy': 'cross-origin' });
    content.send(response.type(basename(files[0].pathname)));
  };
}

/** Serves the scripts in `folder` by name, in one route: Express tries routes one after the other. Passes on other names. */
export function scriptFiles(folder: URL): RequestHandler {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const handlers = new Map(names.map((name) => [name, fixedFile(new URL(name, folder))]));
  return (request, response, next) => {
    const handle = handlers.get(basename(request.path));
    if (handle) void handle(request, response, next);
    else next();
  };
}
