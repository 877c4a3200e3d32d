const element = /[ \t]*(?:([^\s=,"]+)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*)?(?:,|$)/y;

/**
 * The parameters of an `Authorization: OAuth ...` header, decoded, without the realm (RFC 5849, 3.5.1): the scheme in any
 * case, the parameters in any order, with any white space between them and with empty elements, such as after a comma at the end.
 * Undefined when it is no such header, when a name stands twice or when an escape is broken.
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
    return { name: unescaped(name), value: unescaped(value) };
  } catch {
    return undefined;
  }
}

function unescaped(text: string): string {
  return text.includes('%') ? decodeURIComponent(text) : text;
}
