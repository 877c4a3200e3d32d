/** The format of a response. */
export type Format = 'xml' | 'json';

/** The format that a path, or a request line, names (docs/reference/interface.md section 4); else JSON. */
export function requestedFormat(path: string): Format {
  return /^([A-Z]+ )?[^?\s]*\/([12]\/upload|2\/media(\/[^/?\s]+)?)\.xml([?\s]|$)/.test(path) ? 'xml' : 'json';
}

/** The `Content-Type` of each format. */
export const contentTypes = { xml: 'application/xml; charset=utf-8', json: 'application/json; charset=utf-8' };
