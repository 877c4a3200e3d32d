const parameter = /[;,][ \t]*([\w*-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g;
const maxValueLength = 16 * 1024;
const maxParameters = 100;

/**
 * The parameters of a header by lower-case name, as clients write them: quoted or not, with a comma as the first semicolon, with unescaped
 * quotes. None if the header is longer than 16 KiB or has more than 100.
 */
export function parametersOf(value: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  if (value.length > maxValueLength) return found;
  let given = 0;
  for (const [, name = '', quoted, plain = ''] of value.matchAll(parameter)) {
    given += 1;
    // Stops at once: searching on would cost twenty times as much.
    if (given > maxParameters) return new Map();
    const text = quoted?.replace(/\\(["\\])/g, '$1') ?? plain;
    const values = found.get(name.toLowerCase());
    if (values) values.push(text);
    else found.set(name.toLowerCase(), [text]);
  }
  return found;
}

/** The media type of a header in lower case, without parameters; empty if there is none. */
export function mediaTypeOf(header = ''): string {
  return /^[^;,\s]*/.exec(header.trim())?.[0].toLowerCase() ?? '';
}
