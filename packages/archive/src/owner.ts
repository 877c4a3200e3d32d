import { hash } from 'node:crypto';
import type { StoredRecord } from '@echodrop/record';

/** The provider's advertised address, and the subject as the provider sent it. */
export type Owner = Pick<StoredRecord, 'provider' | 'subject'>;

/** The owner in keys and page addresses: 128 bits of SHA-256 as 32 hexadecimal digits. */
export function ownerHash({ provider, subject }: Owner): string {
  return nameHash(JSON.stringify([provider, subject]));
}

export function isOwnerHash(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** A hash of `name` for use in keys. */
export function nameHash(name: string): string {
  return hash('sha256', name).slice(0, 32);
}
