/**
 * Whether a request prefers a representation in the response (RFC 7240, `return`). Of several values the first counts.
 * @param header the value of `Prefer`, joined by commas if it was repeated
 */
export function prefersRepresentation(header = ''): boolean {
  // A quoted string may contain separators. Without the second `?`, a quote that nothing closes would cost quadratic time.
  const unquoted = header.replaceAll(/"((?:[^"\\]|\\.)*)"?/g, (_, text) => (/^[\w-]*$/.test(text) ? text : 'quoted'));
  const preferences = unquoted.split(',').map((preference) => preference.split(';', 1)[0]?.trim() ?? '');
  const [, value] = preferences.map((each) => /^return\s*=\s*([\w-]*)$/i.exec(each)).find(Boolean) ?? [];
  return value?.toLowerCase() === 'representation';
}
