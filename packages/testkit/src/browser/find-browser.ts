import { execa } from 'execa';
import { findProgram } from '../find-program.ts';

const browsers = ['chromium', 'chromium-browser', 'google-chrome'];
// Takes less than half the CPU time, but has no back/forward cache.
const shell = 'chromium-headless-shell';

/** The path of Chromium, or of its headless shell if that exists and suffices. */
export async function findBrowser({ needsWhole = false } = {}): Promise<string | undefined> {
  for (const name of needsWhole ? browsers : [shell, ...browsers]) {
    const path = await findProgram(name);
    // A distribution may have only a stub.
    if (path !== undefined && !(await execa(path, ['--version'], { reject: false })).failed) return path;
  }
  return undefined;
}
