import type { MediaRecord } from './media-record.ts';

/** The fields of docs/reference/interface.md section 2, in its order. */
export function recordFields<UserId>(record: MediaRecord, userId: UserId) {
  const { id, text, url, width, height, size, type, timestamp, user } = record;
  return {
    id,
    text,
    url,
    width,
    height,
    size,
    type,
    timestamp: uploadTimestamp(timestamp),
    user: { id: userId, screen_name: user.screenName },
  };
}

/** `Sat, 21 Nov 2026 11:36:34 +0000`: the date format of docs/reference/interface.md section 2, in UTC and any locale. */
export function uploadTimestamp(time: Date): string {
  return time.toUTCString().replace('GMT', '+0000');
}
