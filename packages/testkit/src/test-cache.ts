import { homedir } from 'node:os';
import { join } from 'node:path';

/** A folder that outlasts a test run, shared by all clones. */
export function testCache(name: 'samples' | 'results'): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'echodrop', `test-${name}`);
}
