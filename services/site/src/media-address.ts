import { isMediaId } from '@echodrop/record';
import { typeOfExtension } from './direct-address.ts';

/**
 * The id of the media whose page or direct address `address` is, with or without a slash at its end, a query or a fragment; undefined for every
 * other, and for all that is not below `publicSite`.
 */
export function mediaIdAt(address: string, publicSite: string): string | undefined {
  const asked = URL.parse(address);
  const site = new URL(`${publicSite}/`);
  if (asked?.origin !== site.origin || !asked.pathname.startsWith(site.pathname)) return undefined;
  const [, id = '', extension] = /^(\w+)(?:\.(\w+))?\/?$/.exec(asked.pathname.slice(site.pathname.length)) ?? [];
  if (extension !== undefined && typeOfExtension(extension) === undefined) return undefined;
  return isMediaId(id) ? id : undefined;
}
