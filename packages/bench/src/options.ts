import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type SizeName, sizeNames } from './media.ts';

export interface Options {
  readonly rounds: number;
  readonly connections: number;
  readonly only: readonly string[];
  readonly sizes: readonly SizeName[];
  /** Uploads in the larger folder of `growth`. */
  readonly growth: number;
  /** Checkouts whose services run; the first one's figures are held against the goals. */
  readonly roots: readonly string[];
  readonly profiles: string | undefined;
  readonly json: string | undefined;
  readonly shouldWriteDocs: boolean;
}

// `aged` takes half an hour, `crowds` leaves the machine busy, and `growth` the page cache full.
const notByDefault = ['aged', 'growth', 'crowds'];

export const usageOf = (scenarioNames: readonly string[]) => `Usage: npm run bench -- [options]

Measures processor time and memory of uploads, for Echodrop and its peers (docs/why/performance.md).

  --rounds N          interleaved rounds (default: 5; aged, growth and memory: at most 3)
  --quick             one round
  --connections N     concurrent uploads (default: 8)
  --only NAMES        comma-separated scenarios: ${scenarioNames.join(', ')} (default: all except ${notByDefault.join(', ')})
  --sizes NAMES       comma-separated sizes: ${sizeNames.join(', ')} (default: all)
  --growth N          uploads in the larger folder of growth (default: 200000)
  --root DIR          checkout to measure; repeat to compare several. Only the first one's figures are checked against the goals
  --profile DIR       write CPU profiles of the services to DIR
  --json FILE         write every figure to FILE
  --write-docs        write the tables and the plot of docs/why/performance.md for the scenarios that ran, of all sizes`;

/** @throws TypeError for an invalid option */
export function readOptions(args: readonly string[], scenarioNames: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      quick: { type: 'boolean', default: false },
      connections: { type: 'string', default: '8' },
      only: { type: 'string', default: scenarioNames.filter((name) => !notByDefault.includes(name)).join() },
      sizes: { type: 'string', default: sizeNames.join() },
      growth: { type: 'string', default: '200000' },
      root: { type: 'string', multiple: true },
      profile: { type: 'string' },
      json: { type: 'string' },
      'write-docs': { type: 'boolean', default: false },
    },
  });
  const rounds = wholeNumber(values.rounds);
  const roots = values.root ?? [`${import.meta.dirname}/../../..`];
  for (const root of roots)
    if (!existsSync(join(root, 'services'))) throw new TypeError(`"${root}" is no checkout of Echodrop`);
  const sizes = listOf(values.sizes, sizeNames);
  if (values['write-docs'] && sizes.length < sizeNames.length)
    throw new TypeError('--write-docs needs all sizes: omit --sizes');
  return {
    rounds: values.quick ? 1 : rounds,
    connections: wholeNumber(values.connections),
    only: listOf(values.only, scenarioNames),
    sizes,
    growth: wholeNumber(values.growth),
    roots,
    profiles: values.profile,
    json: values.json,
    shouldWriteDocs: values['write-docs'],
  };
}

function listOf<const N extends string>(text: string, known: readonly N[]): N[] {
  return text.split(',').map((word) => {
    const found = known.find((name) => name === word.trim());
    if (!found) throw new TypeError(`Unknown value "${word}"; expected one of ${known.join(', ')}`);
    return found;
  });
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new TypeError(`"${text}" must be a positive integer`);
  return number;
}
