/** `Sat, 21 Nov 2026 11:36:34 +0000`: docs/interface.md section 2's RFC 822 style date, in UTC, whatever the locale. */
export function uploadTimestamp(time: Date): string {
  return time.toUTCString().replace('GMT', '+0000');
}
