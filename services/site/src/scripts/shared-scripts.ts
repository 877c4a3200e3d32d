import type { RequestHandler } from 'express';
import { fixedFiles, scriptFiles } from '../serve/fixed-files.ts';

const names = ['copy-button', 'elements', 'format', 'rendition', 'service-response', 'share-fields', 'sign-in-again'];

/** `GET /scripts/<name>.js`: the scripts that several pages share. */
export function sharedScripts(): RequestHandler {
  return fixedFiles(scriptFiles('/scripts', new URL('./', import.meta.url), names));
}
