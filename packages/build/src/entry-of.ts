import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** Path of the module that starts `name`: a service, or a development tool that runs like one. */
export function entryOf(name: string): string {
  const [service = '', tool = ''] = ['services', 'tools'].map((folder) => join(root, folder, name, 'src/main.ts'));
  return existsSync(service) ? service : tool;
}

/** Options of Node that the service `name` runs with, as its image does. */
export function nodeFlagsOf(name: string): string[] {
  return flags[name] ?? [];
}

const flags: Readonly<Record<string, string[]>> = {
  // Beside thousands of slow readers, V8 would let the young generation grow to 128 MiB. The chunks of responses are outside its heap, and it
  // collects them in proportion to the limit of the heap, by default gigabytes.
  site: ['--max-semi-space-size=8', '--max-old-space-size=256'],
};
