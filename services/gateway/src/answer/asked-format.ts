import type { Format } from './answer.ts';

/** The format that a path, or a request line, asks for (docs/interface.md section 4); JSON where it asks for none. */
export function askedFormat(path: string): Format {
  return /^([A-Z]+ )?[^?\s]*\/([12]\/upload|2\/media)\.xml([?\s]|$)/.test(path) ? 'xml' : 'json';
}
