import type { Caller } from '@echodrop/contracts/verification';
import type { MediaType } from '@echodrop/media/detect-media-type';
import type { WrittenObject } from '@echodrop/object-store/object-store';
import type { ApiKeys } from '../admit/api-keys.ts';
import { Refusal } from '../response/refusal-error.ts';
import { type FormContent, mediaSentAsText } from './form-content.ts';

/** Media in the store. */
interface CompleteMedia {
  readonly key: string;
  /** The first bytes, up to 16 KiB, and the type that they have; undefined if unknown. */
  readonly head: Buffer;
  readonly type: MediaType | undefined;
  /** From now on a record may name the media: only the sweep may remove it. */
  readonly commit: () => void;
}

/** An upload that passed admission, with its media in the store. */
export interface CompleteUpload {
  readonly message: string;
  /** Alternative text. */
  readonly alt?: string | undefined;
  readonly application: string;
  readonly caller: Caller;
  readonly media: CompleteMedia;
  readonly stored: WrittenObject;
  /** The id under which an earlier try of this upload may have published it. */
  readonly mediaId?: string | undefined;
}

/** What a request has besides its media. */
type Parameters = Pick<FormContent, 'fields' | 'misplaced' | 'received'>;

/** Requires the parameters of docs/reference/interface.md sections 4.1 and 4.2; a blank `alt` counts as none. @throws Refusal `parameter_missing`, `api_key_unknown` */
export function requireParameters<Media>(
  form: Parameters & { readonly media: Media | undefined },
  apiKeys: ApiKeys,
  compatibility: 'strict' | 'historic',
): Pick<CompleteUpload, 'message' | 'alt' | 'application'> & { readonly media: Media } {
  const { fields, misplaced, media } = form;
  const key = fields.get('key');
  const isForgiven = compatibility === 'historic' && !misplaced.has('message');
  const message = fields.get('message') ?? (isForgiven ? '' : undefined);
  if (!key) throw parameterMissing('key', form);
  if (message === undefined) throw parameterMissing('message', form);
  if (media === undefined) throw parameterMissing('media', form);
  const application = apiKeys.applicationOf(key);
  if (application === undefined) throw new Refusal('api_key_unknown');
  return { message, alt: fields.get('alt')?.trim() || undefined, application, media };
}

function parameterMissing(name: 'key' | 'message' | 'media', { misplaced, received }: Parameters): Refusal {
  const sign = misplaced.get(name);
  if (sign !== undefined && name === 'media') return mediaSentAsText();
  if (sign !== undefined) return new Refusal('parameter_missing', { message: 'sentAsFile', values: { name, sign } });
  if (received.has(name)) return new Refusal('parameter_missing', { message: 'empty', values: { name } });
  return new Refusal('parameter_missing', {
    message: 'absent',
    values: { name, received: `${received}` },
  });
}
