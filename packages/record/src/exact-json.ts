// ES2026 gives JSON.parse the source of each value and JSON.stringify a way to write one as it is; TypeScript's library has neither yet.
const exact = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
};

/**
 * JSON.parse that spoils no integer: one beyond 2^53 comes as a bigint, all else as usual (docs/dependencies.md).
 * @throws SyntaxError when `text` is no JSON
 */
export function parseExactJson(text: string): unknown {
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value,
  );
}

/** A bigint as JSON.stringify writes it: a plain number with all its digits. */
export function exactNumber(value: bigint): unknown {
  return exact.rawJSON(value.toString());
}
