const element = /[ \t]*(?:([^\s=,"]+)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*)?(?:,|$)/y;

/**
 * The decoded parameters of an `Authorization: OAuth ...` header, without the realm (RFC 5849, 3.5.1). Accepts the scheme in any
 * case, parameters in any order, white space between them and empty elements, such as after a trailing comma.
 * Undefined for another header, a repeated name or an invalid escape.
 */
export function readAuthorization(header: string): Map<string, string> | undefined {
  const scheme = /^OAuth[ \t]+/i.exec(header);
  if (!scheme) return undefined;
  const parameters = new Map<string, string>();
  element.lastIndex = scheme[0].length;
  while (element.lastIndex < header.length) {
    const found = element.exec(header);
    if (!found) return undefined;
    const [, name, value = ''] = found;
    if (name === undefined || name.toLowerCase() === 'realm') continue;
    const decoded = decode(name, value);
    if (!decoded || parameters.has(decoded.name)) return undefined;
    parameters.set(decoded.name, decoded.value);
  }
  return parameters;
}

function decode(name: string, value: string): { name: string; value: string } | undefined {
  try {
    return { name: percentDecode(name), value: percentDecode(value) };
  } catch {
    return undefined;
  }
}

function percentDecode(text: string): string {
  return text.includes('%') ? decodeURIComponent(text) : text;
}
