import { missingSentences } from '@echodrop/contracts/refusal-statuses-and-messages';
import type { Caller } from '@echodrop/contracts/verification';
import type { MediaType } from '@echodrop/media/detect-media-type';
import type { WrittenObject } from '@echodrop/object-store/object-store';
import type { ApiKeys } from '../admit/api-keys.ts';
import { Refusal } from '../response/refusal-error.ts';
import type { FormContent } from './form-content.ts';

/** Media in the store. */
export interface CompleteMedia {
  readonly key: string;
  readonly size: number;
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

/** Requires the parameters of docs/reference/interface.md sections 4.1 and 4.2; a blank `alt` counts as none. @throws Refusal `parameter_missing`, `api_key_unknown` */
export function requireParameters<Media>(
  { fields, media, files }: Pick<FormContent, 'fields' | 'files'> & { readonly media: Media | undefined },
  apiKeys: ApiKeys,
  compatibility: 'strict' | 'historic',
): Pick<CompleteUpload, 'message' | 'alt' | 'application'> & { readonly media: Media } {
  const key = fields.get('key');
  const isForgiven = compatibility === 'historic' && !files.has('message');
  const message = fields.get('message') ?? (isForgiven ? '' : undefined);
  if (!key) throw parameterMissing('key');
  if (message === undefined) throw parameterMissing('message');
  if (media === undefined) throw parameterMissing('media');
  const application = apiKeys.applicationOf(key);
  if (application === undefined) throw new Refusal('api_key_unknown');
  return { message, alt: fields.get('alt')?.trim() || undefined, application, media };
}

function parameterMissing(name: keyof typeof missingSentences): Refusal {
  return new Refusal('parameter_missing', { sentence: missingSentences[name] });
}
