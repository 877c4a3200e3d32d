import { customAlphabet } from 'nanoid';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new media id: 10 characters of base62 from the system's secure random source (59 bits). */
export const newMediaId: () => string = customAlphabet(base62, 10);

/** Whether `text` has the shape of a media id. */
export function isMediaId(text: string): boolean {
  return /^[0-9A-Za-z]{10}$/.test(text);
}
