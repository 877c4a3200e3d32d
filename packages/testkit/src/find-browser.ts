import { execa } from 'execa';

const browsers = ['chromium', 'chromium-browser', 'google-chrome'];
// Takes less than half of the processor time, and keeps no pages for "back".
const shell = 'chromium-headless-shell';

/** The path of a Chromium on this machine: of its headless shell if it is there and will do. */
export async function findBrowser({ needsWhole = false } = {}): Promise<string | undefined> {
  for (const name of needsWhole ? browsers : [shell, ...browsers]) {
    const { stdout, failed } = await execa('which', [name], { reject: false });
    if (!failed) return stdout;
  }
  return undefined;
}
