import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** A tab in its own browser context. */
export interface WatchedTab extends AsyncDisposable {
  readonly tab: Page;
  /** Script errors, console errors and warnings (including policy violations), and dialogs. */
  readonly problems: string[];
}

/** Opens a tab in a new browser context. Disposing closes the context. */
export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedTab> {
  const context = await browser.newContext(options);
  const tab = await context.newPage();
  const problems: string[] = [];
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
