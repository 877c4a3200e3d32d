/** Longer than the verifier's limit for a provider. */
export const verificationDeadlineMs = 10_000;

/** For a command to the cache Redis. Then uploads are admitted without rate limiting. */
export const limitsTimeoutMs = 500;
