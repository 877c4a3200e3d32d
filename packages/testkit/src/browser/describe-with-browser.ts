import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { describeUnlessMissing } from '../describe-with-ops-checkers.ts';
import { findBrowser } from './find-browser.ts';

/** A `describe` for tests in Chromium, with its back/forward cache if `keepsPages`. Without Chromium, skips them with a warning, or fails if REQUIRE_BROWSER=1. */
export async function describeWithBrowser(
  name: string,
  tests: (browser: () => Browser) => void,
  { keepsPages = false } = {},
): Promise<void> {
  const executablePath = await findBrowser({ needsWhole: keepsPages });
  const missing = executablePath === undefined ? 'Chromium' : '';
  describeUnlessMissing(name, { missing, variable: 'REQUIRE_BROWSER' }, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath: executablePath ?? '',
        args: ['--no-sandbox', '--disable-gpu'],
        ...(keepsPages && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
      });
    });
    afterAll(() => browser?.close());
    tests(() => browser);
  });
}
