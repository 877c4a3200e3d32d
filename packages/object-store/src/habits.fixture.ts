/** What other S3 stores do otherwise than AWS and MinIO (docs/host/stores.md). */
export const habits = [
  /** Garage. */
  'ignores conditions',
  /** StorageGRID, and stores of before 2024. */
  'refuses conditions',
  /** The same, in other words. */
  'conditions get 405',
  'conditions get 422',
  /** A write of nothing that must not replace an object replaces it, or one whose parts were joined. */
  'replaces objects by nothing',
  'replaces joined objects',
  /** The response to a conflict has the tag of the bytes that it refuses. */
  'conflicts show refused bytes',
  /** AWS: a conditional write while another one of the same object runs. */
  'conflicts',
  /** Cloudflare R2: two writes of an object within a second. */
  'refuses second writes',
  /** The same, as a client far away sees it. */
  'refuses concurrent writes',
  /** Backblaze B2. */
  'refuses checksums',
  /** Verifies CRC-32 checksums of objects alone: the three requests of a multipart upload. */
  'refuses announced checksums',
  'confirms no checksums of parts',
  'refuses checksums in completions',
  /** moto, gofakes3. */
  'ignores checksums',
  /** Adobe S3Mock. */
  'calls a wrong checksum a bad request',
  /** Cloudflare R2, Mega S4. */
  'wants equal parts',
  /** S3Mock 5: a completed upload has the checksum of all bytes, not of the checksums of its parts. */
  'joins checksums',
  /** moto: the checksum of the checksums of parts has no mark. */
  'hides joined checksums',
  /** gofakes3: the tag of a completed upload is not that of its object. */
  'changes tags',
  /** gofakes3: an empty list of multipart uploads is an error. */
  'has no empty lists',
  /** Completes an upload whose part was replaced, with the new part. */
  'joins replaced parts',
  /** SeaweedFS: completes an upload whose part was replaced, with the part that was named. */
  'keeps replaced parts',
  /** Stores that copy their index between sites. */
  'lists late',
  'removals get 200',
  /** S3Proxy: a list begins at a key or a token, not both; a list of multipart uploads has no size. */
  'refuses needless parameters',
] as const;

export type Habit = (typeof habits)[number];

/** What makes a store unusable, or a key: policies of services forbid some reads. */
export type Fault =
  | 'ignores ranges'
  | 'has another time'
  | 'responds with 304 to a write'
  | 'conditions get 403'
  | 'conditions get 500'
  | 'forbids second writes'
  | 'refuses empty objects'
  | 'refuses removals'
  | 'refuses reads of media'
  | 'refuses lists'
  | 'lists from the beginning'
  | 'lists no folders'
  | 'refuses the highest character'
  | 'lists one page'
  | 'refuses completions'
  | 'refuses several parts'
  | 'changes bytes'
  | 'has a quota'
  | 'is away'
  | 'has lost its bucket'
  | 'answers the first race with 429'
  | 'loses the first response of a race'
  | 'loses the first response of each completion'
  | 'both writes of the first race win'
  | 'fails after status 200 of each first completion'
  | 'fails after status 200 of each completion'
  | 'cuts off the first response of each completion'
  | 'does not answer completions';

/** What makes a store the least capable one that can be used. */
export const leastCapable: readonly Habit[] = [
  'ignores conditions',
  'refuses second writes',
  'refuses checksums',
  'wants equal parts',
  'has no empty lists',
];
