import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const violations = `axe.run().then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`;

/** What axe finds wrong with a page as it stands, in light and in dark: each time the rule, and where. */
export async function barriers(tab: Page): Promise<string[]> {
  await tab.evaluate(axe);
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab.emulateMedia({ colorScheme });
    const violated: string[] = await tab.evaluate(violations);
    found.push(...violated.map((violation) => `${colorScheme}: ${violation}`));
  }
  return found;
}
