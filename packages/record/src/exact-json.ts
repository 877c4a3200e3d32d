// ES2026; TypeScript's library lacks the source of a value and `rawJSON`.
const exact = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
};

/**
 * JSON.parse with exact integers: those beyond 2^53 become bigint (docs/why/dependencies.md). A fraction never becomes an integer by rounding, which
 * could be another user's id: it is NaN then. @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  return exact.parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value;
    if (!Number.isSafeInteger(value)) return /^-?\d+$/.test(source) ? BigInt(source) : value;
    return /^-?\d+(\.0+)?(e\+?\d+)?$/i.test(source) ? value : Number.NaN;
  });
}

/** Makes JSON.stringify write a bigint as a number with all digits. */
export function exactNumber(value: bigint): unknown {
  return exact.rawJSON(value.toString());
}
