import { execa } from 'execa';

/** The path of a Chromium on this machine. */
export async function findBrowser(): Promise<string | undefined> {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const { stdout, failed } = await execa('which', [name], { reject: false });
    if (!failed) return stdout;
  }
  return undefined;
}
