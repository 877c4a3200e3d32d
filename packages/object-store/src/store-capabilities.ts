/** What a store does, as its probe has found. */
export interface StoreCapabilities {
  /** Whether a write with `If-None-Match: *` fails if the object exists, also when two race. */
  readonly hasConditionalWrites: boolean;
  /** What the store verifies the bytes of each write against. `tag`: nothing, but its tags are MD5s, which the service compares. */
  readonly checksums: 'crc32' | 'md5' | 'tag' | 'none';
  /** Whether an object may be written twice within a second. */
  readonly hasRepeatedWrites: boolean;
  /** Whether completing a multipart upload whose parts were replaced fails, or is noticed. */
  readonly comparesParts: boolean;
  /**
   * Whether an object's tag is the MD5 of its bytes (of joined parts: the MD5 of their MD5s), so that a different tag means different bytes.
   * The tag of an encrypted object only looks like one.
   */
  readonly hasMd5Tags: boolean;
  /** Whether the tag of a completed multipart upload is the tag of its object. */
  readonly hasFinalTags: boolean;
  /** Whether a new object is in lists at once. */
  readonly hasImmediateLists: boolean;
  /** Of a folder: whether its file system has hard links (docs/decisions/folder-store.md). */
  readonly hasHardLinks?: boolean;
  /** Of a folder: whether its file system can write the names of new and removed files to disk at once. */
  readonly hasDirectorySync?: boolean;
  /** What else a person wants to know who chooses a store, in a sentence each. Echodrop does nothing differently. */
  readonly notes: readonly string[];
}

export interface ProbeOptions {
  /** Also runs tests that need large requests, many requests, or permission to list. */
  readonly isThorough?: boolean;
  /** Ends the probe, which removes its objects before it throws the reason. */
  readonly signal?: AbortSignal;
}

/** What AWS and MinIO do. */
export const usualCapabilities: StoreCapabilities = {
  hasConditionalWrites: true,
  checksums: 'crc32',
  hasRepeatedWrites: true,
  comparesParts: true,
  hasMd5Tags: false,
  hasFinalTags: true,
  hasImmediateLists: true,
  notes: [],
};

const ofChecksums: Record<StoreCapabilities['checksums'], string | undefined> = {
  crc32: undefined,
  md5: 'The store refuses CRC-32 checksums, or does not verify them: writes carry an MD5, which it verifies.',
  tag: 'The store verifies no checksums: the tag of each write is compared with the MD5 of its bytes.',
  none: 'The store verifies no checksums, and its tags are no MD5s: bytes that change on the way to it are not noticed.',
};

/** What the store lacks, and what follows, in a sentence each (docs/why/reliability.md). None if it lacks nothing. */
export function limitationsOf(found: StoreCapabilities): string[] {
  return [
    !found.hasConditionalWrites &&
      'The store ignores or refuses conditional writes: a write looks first whether the object exists, and is confirmed by reading it back.',
    ofChecksums[found.checksums],
    !found.hasRepeatedWrites &&
      'The store refuses a second write of an object within a second: writes are confirmed by reading them back.',
    !found.comparesParts &&
      'The store completes a multipart upload although a part was replaced: a gateway that was suspended may change a resumable upload before it is published.',
    !found.hasFinalTags && 'The store changes the tags of multipart uploads after completion: each is read once more.',
    !found.hasImmediateLists &&
      'New objects are missing in lists for a moment: so are new uploads on pages and in lists of their owners.',
    found.hasHardLinks === false &&
      'The folder has no hard links: after a crash, a repeat of an upload or the next piece may get 503 for 30 s.',
    found.hasDirectorySync === false &&
      'The folder cannot sync directories: a power failure may undo the last uploads and removals, although they succeeded.',
  ].filter((sentence) => typeof sentence === 'string');
}
