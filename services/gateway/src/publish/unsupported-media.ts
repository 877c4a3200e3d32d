import type { MediaType } from '@echodrop/media/detect-media-type';
import type { UnsupportedReason } from '@echodrop/media/outcomes';
import { Refusal } from '../response/refusal-error.ts';

/** 415 for media of a detected type, if any. */
export function mediaUnsupported(why: UnsupportedReason, type: MediaType | undefined): Refusal {
  return why === 'type_off'
    ? new Refusal('media_unsupported', { message: why, values: { type: type ?? 'such' } })
    : new Refusal('media_unsupported', { message: why });
}

/**
 * 415 for media that its type suffices to refuse. A repeat (`idempotencyKey`) gets its record also if the type was turned off since, so only its
 * publication refuses it.
 */
export function refusalByType(
  type: MediaType | undefined,
  { typesOff, idempotencyKey }: { typesOff: ReadonlySet<MediaType>; idempotencyKey: string | undefined },
): Refusal | undefined {
  if (type === undefined) return mediaUnsupported('unknown_type', type);
  return typesOff.has(type) && idempotencyKey === undefined ? mediaUnsupported('type_off', type) : undefined;
}
