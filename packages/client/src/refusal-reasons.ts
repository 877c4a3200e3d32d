/** Reasons of refusals (docs/reference/errors.md). */
export const refusalReasons = [
  ...(['parameter_missing', 'form_malformed', 'idempotency_key_malformed', 'query_malformed'] as const),
  'request_malformed',
  ...(['credentials_missing', 'credentials_refused', 'provider_unknown', 'provider_unavailable'] as const),
  'api_key_unknown',
  ...(['caller_blocked', 'application_blocked', 'not_yours'] as const),
  ...(['not_found', 'method_not_allowed', 'too_slow'] as const),
  ...(['idempotency_key_in_use', 'idempotency_key_reused', 'removed'] as const),
  ...(['media_too_large', 'media_unsupported'] as const),
  ...(['expectation_failed', 'headers_too_large', 'too_many_requests'] as const),
  ...(['internal_error', 'overloaded', 'unavailable'] as const),
  // Of resumable uploads.
  ...(['tus_malformed', 'tus_version', 'tus_content_type', 'checksum_unsupported', 'checksum_mismatch'] as const),
  ...(['offset_conflict', 'upload_incomplete', 'upload_published', 'upload_expired', 'upload_locked'] as const),
] as const;

/** A reason of this release; `unknown` for a response without one, such as a proxy's; or one that a later release adds. */
export type RefusalReason = (typeof refusalReasons)[number] | 'unknown' | (string & {});
