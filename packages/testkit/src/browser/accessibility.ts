import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

// Otherwise axe also describes each element that passes.
const only = { resultTypes: ['violations'] };
// Only contrast depends on the colour scheme.
const rules = { light: only, dark: { ...only, runOnly: ['color-contrast'] } };

/** The violations that axe finds in the current page in light and dark mode: rule and element. */
export async function axeViolations(tab: Page): Promise<string[]> {
  if (!(await tab.evaluate('"axe" in window'))) await tab.evaluate(axe);
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab.emulateMedia({ colorScheme });
    const violated: string[] =
      await tab.evaluate(`axe.run(${JSON.stringify(rules[colorScheme])}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`);
    found.push(...violated.map((violation) => `${colorScheme}: ${violation}`));
  }
  return found;
}
