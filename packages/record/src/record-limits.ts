/** The longest alternative text, in Unicode characters: that of Mastodon. */
export const maxAltCharacters = 1500;

/** No record or tombstone is larger: JSON may spell a character of a caption of 64 KiB in six bytes. */
export const maxRecordBytes = 2 ** 20;

/** The longest texts of a record, in UTF-16 units: the most that a writer of any release allows. Lists rely on these limits for their memory. */
export const maxTextLengths = {
  // A field of a form has 64 KiB.
  text: 64 * 1024,
  // A character may have two units, and so has CRLF.
  alt: 2 * maxAltCharacters,
  // Node refuses longer headers in responses of a store.
  etag: 16 * 1024,
  // These come from settings, which once had no limit. Linux allows no longer environment variable.
  provider: 128 * 1024,
  application: 128 * 1024,
  // 0.1.0 read integers of any length in responses of 64 KiB.
  subject: 64 * 1024,
  // The verifier reads no longer names.
  screenName: 255,
} as const;
