import { findProgram } from '../find-program.ts';

const browsers = ['chromium', 'chromium-browser', 'google-chrome'];
// Takes less than half the CPU time, but has no back/forward cache.
const shell = 'chromium-headless-shell';

/** The path of Chromium, or of its headless shell if that exists and suffices. */
export async function findBrowser({ needsWhole = false } = {}): Promise<string | undefined> {
  for (const name of needsWhole ? browsers : [shell, ...browsers]) {
    const path = await findProgram(name);
    if (path !== undefined) return path;
  }
  return undefined;
}
