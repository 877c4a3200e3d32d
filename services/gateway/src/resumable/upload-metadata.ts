import { Metadata } from '@tus/utils';
import { type FieldName, isFieldName, secretNames } from '../receive/part-headers.ts';
import { Refusal } from '../response/refusal-error.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The names in `Upload-Metadata`. */
export function namesOfMetadata(header: string): string[] {
  return header
    .split(',')
    .flatMap((pair) => pair.split(' ', 1))
    .filter(Boolean);
}

const unkept: readonly string[] = ['key', ...secretNames];

/** `Upload-Metadata` as the store keeps it and HEAD returns it: without API key and secrets. */
export function keptMetadata(header: string): string {
  const isKept = (pair: string) => !unkept.includes(pair.split(' ', 1)[0]?.toLowerCase() ?? '');
  return header.split(',').filter(isKept).join(',');
}

/**
 * The parameters in `Upload-Metadata`: pairs of a name and a value in Base64 (tus 1.0.0, "Upload-Metadata"). Other names are ignored.
 * @throws Refusal `tus_malformed`
 */
export function parametersOfMetadata(header: string): Map<FieldName, string> {
  try {
    if (header !== '') Metadata.parse(header);
    const pairs = header.split(',').map((pair) => pair.split(' '));
    return new Map(
      pairs.flatMap(([name = '', value = '']) =>
        isFieldName(name) ? [[name, utf8.decode(Buffer.from(value, 'base64'))]] : [],
      ),
    );
  } catch (cause) {
    throw new Refusal('tus_malformed', { message: 'metadata', cause });
  }
}
