import type { MediaRecord } from './media-record.ts';
import { uploadTimestamp } from './upload-timestamp.ts';

/** The fields of docs/interface.md section 2, in its order and under its names; `userId` is the user's id as the format spells it. */
export function recordFields<I>(record: MediaRecord, userId: I) {
  const { id, text, url, width, height, size, type, timestamp, user } = record;
  return {
    ...{ id, text, url, width, height, size, type },
    timestamp: uploadTimestamp(timestamp),
    user: { id: userId, screen_name: user.screenName },
  };
}
