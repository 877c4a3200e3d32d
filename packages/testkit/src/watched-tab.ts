import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** A tab in a context of its own, and what went wrong in it. */
export interface WatchedTab extends AsyncDisposable {
  readonly tab: Page;
  /** Errors of scripts and in the console (violations of policies too), and dialogs. */
  readonly complaints: string[];
}

/** Opens a tab that nothing was done in before. Disposing closes its context. */
export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedTab> {
  const context = await browser.newContext(options);
  const tab = await context.newPage();
  const complaints: string[] = [];
  tab.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  tab.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  tab.on('dialog', async (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  return { tab, complaints, [Symbol.asyncDispose]: () => context.close() };
}
