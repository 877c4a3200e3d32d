const parameter = /[;,][ \t]*([\w*-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g;
const maxValueLength = 16 * 1024;
const maxParameters = 100;

/**
 * The parameters that follow the first word of a header's value, by their lower-case names, each with all the values that it was given; as
 * clients have written them: quoted or not, with a comma for the first semicolon, with unescaped quotes behind. A value longer than 16 KiB,
 * or with more than 100 parameters, has none.
 */
export function parametersOf(value: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  if (value.length > maxValueLength) return found;
  let given = 0;
  for (const [, name = '', quoted, plain = ''] of value.matchAll(parameter)) {
    given += 1;
    // At once: the search for all of them would cost twenty times as much.
    if (given > maxParameters) return new Map();
    const text = quoted?.replace(/\\(["\\])/g, '$1') ?? plain;
    const values = found.get(name.toLowerCase());
    if (values) values.push(text);
    else found.set(name.toLowerCase(), [text]);
  }
  return found;
}
