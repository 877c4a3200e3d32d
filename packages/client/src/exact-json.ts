import { isInteger, isSafeNumber, parse, stringify } from 'lossless-json';

// Ids of Echodrop and providers have up to 20 digits. BigInt takes seconds for a million digits.
const mostDigits = 40;

/** JSON.parse with exact integers: those beyond 2^53 become bigint. Node 20 and older browsers cannot do it without a library. @throws Error */
export function parseExactJson(text: string): unknown {
  return parse(text, undefined, (digits) => {
    if (!isInteger(digits) || isSafeNumber(digits)) return +digits;
    if (digits.length > mostDigits) throw new RangeError(`A number has more than ${mostDigits} digits.`);
    return BigInt(digits);
  });
}

/** JSON.stringify, on one line, of values that may be bigint: a number with all digits. */
export function toExactJson(value: unknown): string {
  return stringify(value) ?? 'null';
}
