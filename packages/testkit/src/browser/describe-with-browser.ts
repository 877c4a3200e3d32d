import { type Browser, chromium } from 'playwright-core';
import { beforeAll, describe } from 'vitest';
import { patienceMs } from '../patience.ts';
import { unlessMissing } from '../unless-missing.ts';
import { findBrowser } from './find-browser.ts';

const launched = new Map<string, Promise<Browser>>();

/**
 * A `describe` for tests in Chromium, with its back/forward cache if `keepsPages`. Test files of a process share a browser, which ends
 * with the process. Without Chromium, skips them, or fails if REQUIRE_BROWSER=1.
 */
export async function describeWithBrowser(
  name: string,
  tests: (browser: () => Browser) => void,
  { keepsPages = false } = {},
): Promise<void> {
  const path = await findBrowser({ needsWhole: keepsPages });
  describe(name, unlessMissing({ Chromium: path !== undefined }), () => {
    let browser: Browser;
    beforeAll(async () => {
      const key = `${path} ${keepsPages}`;
      const launch = launched.get(key) ?? launchBrowser(path ?? '', keepsPages);
      launched.set(key, launch);
      browser = await launch;
    });
    tests(() => browser);
  });
}

function launchBrowser(executablePath: string, keepsPages: boolean): Promise<Browser> {
  return chromium.launch({
    executablePath,
    timeout: patienceMs,
    args: ['--no-sandbox', '--disable-gpu'],
    ...(keepsPages && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
  });
}
