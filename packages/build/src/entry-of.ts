import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** Path of the module that starts `name`: a service, or the whole system of a container. */
export function entryOf(name: string): string {
  const system = join(root, 'deploy', name, 'src/main.ts');
  return existsSync(system) ? system : join(root, 'services', name, 'src/main.ts');
}

/**
 * Options of Node that the program `name` runs with, as its image does; docs/decisions/upload-cost.md says why.
 */
export function nodeFlagsOf(name: string): string[] {
  // V8 collects the chunks of responses, which are outside its heap, in proportion to these limits too.
  const [young, old] = ['site', 'admin', 'all'].includes(name) ? [8, 256] : [16, 512];
  return [`--max-semi-space-size=${young}`, `--max-old-space-size=${old}`];
}
