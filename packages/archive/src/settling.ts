/** Time in which an upload or a removal finishes its work after it has written the record: listing entries, media. */
export const settlingMs = 60_000;

/** Whether an upload of this time, or a removal, may still be at work. A time in the future proves nothing: a record or entry may have any. */
export function isSettling(time: Date): boolean {
  return Math.abs(Date.now() - time.getTime()) < settlingMs;
}
