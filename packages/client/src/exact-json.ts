import { isInteger, isSafeNumber, parse, stringify } from 'lossless-json';

/** JSON.parse with exact integers: those beyond 2^53 become bigint. Node 20 and older browsers cannot do it without a library. @throws Error */
export function parseExactJson(text: string): unknown {
  return parse(text, undefined, (digits) => (isInteger(digits) && !isSafeNumber(digits) ? BigInt(digits) : +digits));
}

/** JSON.stringify that writes a bigint as a number with all digits. */
export function toExactJson(value: unknown, indent?: number): string {
  return stringify(value, undefined, indent) ?? 'null';
}
