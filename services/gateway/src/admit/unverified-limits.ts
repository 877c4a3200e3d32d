/** Limits of uploads without a verified caller. They follow from the limits of all uploads. */
export function unverifiedLimits(config: {
  readonly MAX_CONCURRENT_UPLOADS: number;
  readonly UPLOAD_BUFFER_BYTES: number;
}) {
  return {
    anonymousPerAddress: Math.ceil(config.MAX_CONCURRENT_UPLOADS / 10),
    // Many users may share the address of a school or a mobile network.
    failuresPerMinutePerAddress: 1000,
    unverifiedBufferBytes: Math.floor(config.UPLOAD_BUFFER_BYTES / 4),
  };
}
