import { hash } from 'node:crypto';
import type { StoredRecord } from '@echodrop/record';

/** Whose an upload is: the provider's advertised address, and the subject as the provider sent it. */
export type Owner = Pick<StoredRecord, 'provider' | 'subject'>;

/** The name of an owner in keys and in the address of their page: 128 bits of SHA-256 as 32 hexadecimal digits. */
export function ownerHash({ provider, subject }: Owner): string {
  return nameHash(JSON.stringify([provider, subject]));
}

/** Whether `text` has the shape of an owner's hash. */
export function isOwnerHash(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** A name of any letters as one that a key can hold. */
export function nameHash(name: string): string {
  return hash('sha256', name).slice(0, 32);
}
