import { describeUnreadable } from '@echodrop/archive/describe-unreadable';
import { tryFindRecord } from '@echodrop/archive/records';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isMediaId, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import { quoteForTerminal } from '@echodrop/service/terminal-text';
import { CommandFailed } from './command-context.ts';

/** The public addresses of the system, as far as the settings say. */
export interface PublicAddresses {
  readonly PUBLIC_SITE_URL?: string | undefined;
  readonly PUBLIC_UPLOAD_URL?: string | undefined;
}

/**
 * The id in any public address of an upload (page, picture, player, oEmbed, API), with or without scheme and host; or the id itself.
 * @throws CommandFailed if the text names no upload, or has a host that is not the one of the settings
 */
export function readMediaId(idOrAddress: string, known: PublicAddresses): string {
  if (isMediaId(idOrAddress)) return idOrAddress;
  const fault = (text: string) => new CommandFailed(`${quoteForTerminal(idOrAddress)}: ${text}`);
  // Browsers drop some of these: then two slashes that they separate begin a host.
  if (/[\s\p{Cc}]/u.test(idOrAddress)) throw fault('contains white space or control characters');
  const address = parseAddress(idOrAddress);
  const named = address?.pathname.match(/^\/oembed\/?$/) ? URL.parse(address.searchParams.get('url') ?? '') : address;
  const found = named && findId(named);
  if (!found) throw fault('neither a media id nor the address of an upload');
  const expected = known[found.setting];
  // A path has no host, but what an oEmbed address names has one.
  const hosts = [isPath(idOrAddress) ? undefined : address, named === address ? undefined : named];
  const isOurs = (each: URL) => expected !== undefined && hostOf(new URL(expected)) === hostOf(each);
  if (hosts.every((each) => !each || isOurs(each))) return found.id;
  const why = expected === undefined ? `${found.setting} is not set` : `not at ${expected} (${found.setting})`;
  throw fault(`${why}. If it is the right upload, pass its id: ${found.id}`);
}

/** Reads the record or tombstone of an upload. @throws StoreUnavailable; CommandFailed if it does not exist or is unreadable */
export async function readUpload(store: ObjectStore, id: string): Promise<StoredRecord | Tombstone> {
  const found = await tryFindRecord(store, id);
  if (!found) throw new CommandFailed(`${id}: no such upload`);
  if (found instanceof UnreadableRecord) throw new CommandFailed(`${id}: ${describeUnreadable(id, found)}`);
  return found;
}

function parseAddress(text: string): URL | undefined {
  if (/^https?:\/\//i.test(text)) return URL.parse(text) ?? undefined;
  if (!text.includes('/')) return undefined;
  if (isPath(text)) return URL.parse(`https://path.invalid${text}`) ?? undefined;
  return URL.parse(/^[/\\]/.test(text) ? `https:${text}` : `https://${text}`) ?? undefined;
}

/** Whether the text is a path. After two slashes or backslashes, browsers read a host. */
function isPath(text: string): boolean {
  return /^\/(?![/\\])/.test(text);
}

interface FoundId {
  readonly id: string;
  /** The setting with the public address of the service at whose address it is. */
  readonly setting: keyof PublicAddresses;
}

function findId({ pathname }: URL): FoundId | undefined {
  const [, inApi] = /\/2\/media\/([0-9A-Za-z]{10})(?:\.(?:json|xml))?$/.exec(pathname) ?? [];
  if (inApi !== undefined) return { id: inApi, setting: 'PUBLIC_UPLOAD_URL' };
  const [, onSite] = /^\/(?:show\/\w+\/)?([0-9A-Za-z]{10})(?=[./]|$)/.exec(pathname) ?? [];
  return onSite === undefined ? undefined : { id: onSite, setting: 'PUBLIC_SITE_URL' };
}

// Browsers of the same machine may use either name.
function hostOf({ host }: URL): string {
  return host.replace(/^localhost(?=:|$)/, '127.0.0.1');
}
