const digits = '0123456789';
const idCharacters = `${digits}ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz`;
const end = '\u{10ffff}';
// Names of entries, and in front of them the folder of a day, as in listing-keys.ts.
const dayLength = 5;
const nameLength = 24;
const timeLength = 13;

/**
 * Where a list below `prefix`, of flat entries or of days, goes on after `key`: past all keys that cannot be those of entries. Programs add files
 * beside each one (`._<name>` of macOS), or a folder (`@eaDir`), which come before or after all entries of a folder.
 */
export function skipOtherKeys(prefix: string, key: string): string {
  const rest = key.slice(prefix.length);
  const start = prefix.endsWith('/days/') ? dayLength + 1 : 0;
  for (let n = 0; n < rest.length; n += 1) {
    const [found = '', allowed] = [rest[n], charactersAt(rest, n, start)];
    if (allowed.includes(found)) continue;
    const isSkippable = n < start + nameLength - 1;
    const next = allowed.split('').find((character) => character > found) ?? end;
    const position = `${prefix}${rest.slice(0, n)}${next}`;
    return isSkippable && position > key ? position : key;
  }
  return key;
}

/** The characters that the key of an entry may have at `n`, sorted, if it begins like `rest`. */
function charactersAt(rest: string, n: number, start: number): string {
  if (n === start - 1) return '/';
  const inName = n - start;
  if (start > 0 && inName >= 0 && inName < dayLength) return rest[inName] ?? '';
  if (inName < timeLength) return digits;
  return inName === timeLength ? '-' : idCharacters;
}
