import { z } from 'zod';
import { httpAddress, text } from './env.ts';

/** An API key of one application. The key is public if pages contain it. */
export function apiKey() {
  return z
    .string('is required')
    .regex(/^[\w.~-]{1,200}$/, 'must be letters, digits, dots, hyphens, tildes and underscores');
}

/** An `https:` or `mailto:` address. */
export function contactAddress() {
  return text().refine(
    (value) => /^(https:\/\/|mailto:)\S+$/.test(value) && URL.canParse(value),
    'must be an https: or mailto: address',
  );
}

/** Whether a path is that of resumable uploads, which clients strip from the address of a service: people pass it as a whole. */
export function endsInFiles(path: string): boolean {
  return /(^|\/)files\/*$/.test(path);
}

/** Whether `text` is a network of IP addresses: `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  return z.union([z.cidrv4(), z.cidrv6()]).safeParse(text).success;
}

/** The public address of the upload service, with its base path. */
export function uploadAddress() {
  return httpAddress().refine((address) => !endsInFiles(address), 'must not end in /files');
}
