import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { openSignedIn, signInSettings } from '@echodrop/testkit/browser/signed-in-tab';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';

await describeWithBrowser(
  'pages that the browser keeps for "back"',
  (browser) => {
    let stack: Stack;

    beforeAll(async () => {
      stack = await startStack({
        services: ['sandbox-provider', 'auth-verifier', 'gateway', 'site'],
        settings: signInSettings,
      });
    });
    afterAll(() => stack?.[Symbol.asyncDispose]());

    test.each(['/mine', '/mine/apps'])('after sign-out, "back" to %s shows only the sign-in buttons', async (path) => {
      await using watched = await openSignedIn(browser(), stack, { path });
      const { tab } = watched;
      const own = tab.locator('#mine, #apps');
      await own.waitFor();
      // A page with a request in progress may not be kept.
      const requests = () => tab.evaluate('performance.getEntriesByType("resource").map(({ name }) => name)');
      await expect.poll(requests).toContainEqual(expect.stringContaining('/2/media.json'));
      await tab.evaluate(`addEventListener('pageshow', ({ persisted }) => { sessionStorage.isKept = persisted; })`);
      await tab.goto(`${stack.site}/upload`);
      await tab.getByRole('button', { name: 'Sign out' }).click();
      const signIn = tab.getByRole('button', { name: 'Sign in with Sandbox' });
      await signIn.waitFor();
      // Deferred: this call must return before its page goes away.
      await tab.evaluate('setTimeout(() => history.back())');
      await tab.waitForURL(`${stack.site}${path}`);
      await signIn.waitFor();
      expect(await tab.evaluate('sessionStorage.isKept')).toBe('true');
      expect(await own.isVisible()).toBe(false);
      expect(await tab.content()).not.toContain('sandbox-bearer');
    });
  },
  { keepsPages: true },
);
