const parameter = /[;,][ \t]*([\w*-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g;

/**
 * The parameters that follow the first word of a header's value, by their lower-case names, each with all the values that it was given; as
 * clients have written them: quoted or not, with a comma for the first semicolon, with unescaped quotes behind.
 */
export function parametersOf(value: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [, name = '', quoted, plain = ''] of value.matchAll(parameter)) {
    const values = found.get(name.toLowerCase()) ?? [];
    found.set(name.toLowerCase(), [...values, quoted?.replace(/\\(["\\])/g, '$1') ?? plain]);
  }
  return found;
}
