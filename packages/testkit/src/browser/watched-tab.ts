import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFailed, TestRunner } from 'vitest';
import { patienceMs } from '../patience.ts';

// A healthy peer may take longer than scripts of pages wait.
const patientSignals = `{
  const { timeout } = AbortSignal;
  AbortSignal.timeout = (ms) => timeout.call(AbortSignal, Math.max(ms, ${patienceMs}));
}`;

/** A tab in its own browser context. */
export interface WatchedTab extends AsyncDisposable {
  readonly tab: Page;
  /** Script errors, console errors and warnings (including policy violations), and dialogs. */
  readonly problems: string[];
}

/**
 * Opens a tab in a new browser context, whose actions and pages wait for healthy peers as long as tests do. If the current test fails, prints the
 * problems of the tab and its failed requests. Disposing closes the context.
 */
export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedTab> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(patienceMs);
  context.setDefaultNavigationTimeout(patienceMs);
  await context.addInitScript({ content: patientSignals });
  const tab = await context.newPage();
  const problems: string[] = [];
  const failedRequests: string[] = [];
  tab.on('requestfailed', (request) => failedRequests.push(`${request.failure()?.errorText}: ${request.url()}`));
  // A tab of `beforeAll` belongs to no test.
  if (TestRunner.getCurrentTest())
    onTestFailed(() => console.error([`Tab at ${tab.url()}`, ...problems, ...failedRequests].join('\n  ')));
  tab.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  tab.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  tab.on('dialog', async (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  return { tab, problems, [Symbol.asyncDispose]: () => context.close() };
}

/** Stops the clock of the pages in a tab: their timers and animation frames wait for `tab.clock.runFor`. A page must be open. */
export async function stopClock({ clock }: Page): Promise<void> {
  const now = Date.now();
  await clock.install({ time: now });
  // The clock of a page never goes back, and it runs until here.
  await clock.pauseAt(now + 3_600_000);
}
