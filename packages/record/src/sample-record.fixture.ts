import type { StoredRecord } from './media-record.ts';

export const sampleRecord: StoredRecord = {
  id: '0aZ9bY8cX7',
  text: 'Tulips',
  alt: 'Red flowers in a field',
  width: 4032,
  height: 3024,
  size: 123,
  type: 'jpg',
  timestamp: new Date('2026-11-21T11:36:34.567Z'),
  user: { id: 1059182745930317825n, screenName: 'mia' },
  mediaKey: '00112233445566778899aabbccddeeff',
  etag: '"d41d8cd9"',
  provider: 'https://identity.example/verify.json',
  subject: '1059182745930317825',
  application: 'Birdsong',
};
