import type { WrittenObject } from '@echodrop/object-store/object-store';
import type { ApiKeys } from '../admit/api-keys.ts';
import { Refusal } from '../answer/refusals.ts';
import type { FormContent } from './form-content.ts';
import type { ReceivedMedia } from './received-media.ts';

/** A form that has all that version 1 and 2 ask of it beside credentials. */
export interface CompleteUpload {
  readonly message: string;
  readonly application: string;
  readonly media: ReceivedMedia;
}

/**
 * The parameters that both versions require (docs/interface.md sections 4.1, 4.2), and whose API key it is.
 * @throws Refusal `parameter_missing`, `api_key_unknown`
 */
export async function requireParameters(
  { fields, media, files }: Pick<FormContent, 'fields' | 'media' | 'files'>,
  apiKeys: ApiKeys,
  compatibility: 'strict' | 'historic',
): Promise<CompleteUpload> {
  const key = fields.get('key');
  const isForgiven = compatibility === 'historic' && !files.has('message');
  const message = fields.get('message') ?? (isForgiven ? '' : undefined);
  if (!key || message === undefined || media === undefined) throw new Refusal('parameter_missing');
  const application = apiKeys.applicationOf(key);
  if (application === undefined) throw new Refusal('api_key_unknown');
  return { message, application, media };
}

/** The media as it lies in the store. @throws Refusal `media_too_large` */
export async function requireSize(media: ReceivedMedia): Promise<WrittenObject> {
  const stored = await media.stored();
  if (media.tooLarge || stored === undefined) throw new Refusal('media_too_large');
  return stored;
}
