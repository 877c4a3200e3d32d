import type { Browser } from 'playwright-core';
import { beforeAll, describe } from 'vitest';
import { unlessMissing } from '../unless-missing.ts';
import { findBrowser } from './find-browser.ts';
import { launchBrowser } from './launch-browser.ts';

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
      const launch = launched.get(key) ?? launchBrowser(path ?? '', { keepsPages });
      launched.set(key, launch);
      browser = await launch;
    });
    tests(() => browser);
  });
}
