import { execa } from 'execa';

// The headless shell takes less than half of the processor time.
const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The path of a Chromium on this machine. */
export async function findBrowser(): Promise<string | undefined> {
  for (const name of programs) {
    const { stdout, failed } = await execa('which', [name], { reject: false });
    if (!failed) return stdout;
  }
  return undefined;
}
