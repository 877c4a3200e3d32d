import type { RequestHandler } from 'express';
import { fixedFile } from './fixed-file.ts';

/** Serves text files, by path, in one route: Express tries routes one after the other. Passes on other paths. */
export function fixedFiles(files: Readonly<Record<string, URL>>): RequestHandler {
  const handlers = new Map(Object.entries(files).map(([path, file]) => [path, fixedFile(file)]));
  return (request, response, next) => {
    const handle = handlers.get(request.path);
    if (handle) void handle(request, response, next);
    else next();
  };
}

/** The scripts with these names, in `folder` and below `path`. */
export function scriptFiles(path: string, folder: URL, names: readonly string[]): Readonly<Record<string, URL>> {
  return Object.fromEntries(names.map((name) => [`${path}/${name}.js`, new URL(`${name}.js`, folder)]));
}
