/**
 * How many milliseconds a Retry-After header asks to wait (RFC 9110 section 10.2.3: seconds, or a date as section 5.6.7 prefers it).
 * @returns undefined where there is none, or none that can be read
 */
export function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const isDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header);
  const at = isDate ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
