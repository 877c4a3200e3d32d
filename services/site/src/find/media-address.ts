import { isMediaId } from '@echodrop/record';
import { typeOfExtension } from './direct-address.ts';

/**
 * The id of the media whose page or direct address `address` is, with or without a query or a fragment; undefined for every other, and for
 * all that is not of `publicSite`, an origin.
 */
export function mediaIdAt(address: string, publicSite: string): string | undefined {
  const asked = URL.parse(address);
  if (asked?.origin !== new URL(publicSite).origin) return undefined;
  const [, id = '', extension] = /^\/(\w+)(?:\.(\w+))?\/*$/.exec(asked.pathname) ?? [];
  if (extension !== undefined && typeOfExtension(extension) === undefined) return undefined;
  return isMediaId(id) ? id : undefined;
}
