import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { patienceMs } from '../patience.ts';

const withoutNetlink = fileURLToPath(new URL('without-netlink.pl', import.meta.url));

/** Launches the Chromium at `path`, whose back/forward cache is off unless `keepsPages`. A change of this machine's network does not disturb it. */
export function launchBrowser(path: string, { keepsPages = false } = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: withoutNetlink,
    env: { ...process.env, ECHODROP_TEST_BROWSER: path },
    timeout: patienceMs,
    args: ['--no-sandbox', '--disable-gpu'],
    ...(keepsPages && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
  });
}
