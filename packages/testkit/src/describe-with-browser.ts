import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser } from './find-browser.ts';

/**
 * A `describe` for tests in a real Chromium: one for all of them, which `browser` gives while they run. Without one they are skipped,
 * loudly, or one test fails for all of them with REQUIRE_BROWSER=1.
 */
export async function describeWithBrowser(name: string, tests: (browser: () => Browser) => void): Promise<void> {
  const executablePath = await findBrowser();
  if (executablePath === undefined && process.env.REQUIRE_BROWSER === '1') {
    test(name, () => expect.fail('REQUIRE_BROWSER=1, and there is no Chromium'));
    return;
  }
  if (executablePath === undefined) {
    process.stderr.write(`\n!!! NO CHROMIUM: ${name} is SKIPPED (REQUIRE_BROWSER=1 makes that a failure).\n\n`);
  }
  describe.runIf(executablePath)(name, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath: executablePath ?? '',
        args: ['--no-sandbox', '--disable-gpu'],
      });
    });
    afterAll(() => browser?.close());
    tests(() => browser);
  });
}
