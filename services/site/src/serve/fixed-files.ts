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

/** Serves text files, by path, in one route: Express tries routes one after the other. Passes on other paths. */
export function fixedFiles(files: Readonly<Record<string, URL>>): RequestHandler {
  const handlers = new Map(Object.entries(files).map(([path, file]) => [path, fixedFile(file)]));
  return (request, response, next) => {
    const handle = handlers.get(request.path);
    if (handle) void handle(request, response, next);
    else next();
  };
}

/** The scripts in `folder`, below `path`. */
export function scriptFiles(path: string, folder: URL): Readonly<Record<string, URL>> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  return Object.fromEntries(names.map((name) => [`${path}/${name}`, new URL(name, folder)]));
}
