import { homedir } from 'node:os';
import { join } from 'node:path';

/** A folder that test runs of all clones share. Delete it to start afresh. */
export function testCache(name: 'samples' | 'results'): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'echodrop', `test-${name}`);
}
