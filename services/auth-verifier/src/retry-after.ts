/**
 * How many milliseconds a Retry-After header asks to wait (RFC 9110 section 10.2.3: seconds, or a date).
 * @returns undefined where there is none, or none that can be read
 */
export function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
