/** What other S3 stores do otherwise than AWS and MinIO (docs/host/stores.md). */
export type Habit =
  /** Garage. */
  | 'ignores conditions'
  /** StorageGRID, and stores of before 2024. */
  | 'refuses conditions'
  /** AWS: a conditional write while another one of the same object runs. */
  | 'conflicts'
  /** Cloudflare R2: two writes of an object within a second. */
  | 'refuses second writes'
  /** Backblaze B2. */
  | 'refuses checksums'
  /** moto, gofakes3. */
  | 'ignores checksums'
  /** Adobe S3Mock. */
  | 'calls a wrong checksum a bad request'
  /** Cloudflare R2, Mega S4. */
  | 'wants equal parts'
  /** gofakes3: the tag of a completed upload is not that of its object. */
  | 'changes tags'
  /** gofakes3: an empty list of multipart uploads is an error. */
  | 'has no empty lists'
  /** SeaweedFS: completes an upload whose part was replaced. */
  | 'joins replaced parts';

export const habits: readonly Habit[] = [
  'ignores conditions',
  'refuses conditions',
  'conflicts',
  'refuses second writes',
  'refuses checksums',
  'ignores checksums',
  'calls a wrong checksum a bad request',
  'wants equal parts',
  'changes tags',
  'has no empty lists',
  'joins replaced parts',
];

/** What makes a store the least capable one that can be used. */
export const leastCapable: readonly Habit[] = [
  'ignores conditions',
  'refuses second writes',
  'refuses checksums',
  'wants equal parts',
  'has no empty lists',
];
