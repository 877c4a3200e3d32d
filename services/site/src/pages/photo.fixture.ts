import type { PublishedMedia } from '../find/find-media.ts';

/** A record of a photo. */
export const photo: PublishedMedia = {
  id: 'Ab3dE6gH9j',
  mediaKey: '0'.repeat(32),
  etag: 'e',
  size: 123,
  type: 'jpg',
  width: 4000,
  height: 3000,
  text: 'Lunch',
  timestamp: new Date('2026-11-21T11:36:34Z'),
  user: { id: 12345n, screenName: 'ada' },
  provider: 'https://id.example/verify',
  subject: '12345',
  application: 'test',
};
