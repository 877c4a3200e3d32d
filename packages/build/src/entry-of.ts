import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** Path of the module that starts `name`: a service, or a development tool that runs like one. */
export function entryOf(name: string): string {
  const [service = '', tool = ''] = ['services', 'tools'].map((folder) => join(root, folder, name, 'src/main.ts'));
  return existsSync(service) ? service : tool;
}

/**
 * Options of Node that the program `name` runs with, as its image does. V8 would let the young generation grow to 128 MiB, and the heap in
 * proportion to its limit, by default gigabytes outside of containers (docs/decisions/052).
 */
export function nodeFlagsOf(name: string): string[] {
  // Commands end soon.
  if (name === 'admin') return [];
  // V8 collects the chunks of responses, which are outside its heap, in proportion to these limits too.
  const [young, old] = name === 'site' ? [8, 256] : [16, 512];
  return [`--max-semi-space-size=${young}`, `--max-old-space-size=${old}`];
}
