import { randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Options of `npm run test:faults`. */
export interface FaultOptions {
  readonly isLong: boolean;
  /** A long game day starts no scenario after this time. */
  readonly minutes: number;
  readonly seed: number;
  readonly only: RegExp;
  /** Whether the store has the habits `leastCapable`. */
  readonly hasLeastStore: boolean;
  /** The path of the JSON report. */
  readonly report: string;
}

export const usage = `npm run test:faults -- [options] [Vitest options]

  --long              all scenarios, 55 minutes (default: the short set, four minutes)
  --minutes N         time limit of --long (default: 60)
  --seed N            seed of all random choices (default: random)
  --only REGEXP       scenarios whose name matches
  --least-store       the store is the least capable one that can be used (docs/why/reliability.md)
  --report FILE       write the table as JSON (default: echodrop-faults.json in the temporary folder)
  --help              show this help

A line FAILED is a defect. A line EXPECTED is a documented cost of a fault.`;

const known = {
  long: { type: 'boolean' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  only: { type: 'string' },
  'least-store': { type: 'boolean' },
  report: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Splits arguments into own options, as environment, and arguments of Vitest. */
export function splitArguments(args: readonly string[]): {
  env: Record<string, string>;
  others: string[];
  isHelp: boolean;
} {
  const { values, tokens } = parseArgs({ args: [...args], options: known, strict: false, tokens: true });
  const env = Object.entries(values).filter(([name]) => name in known && name !== 'help');
  const others = tokens.flatMap((token) => {
    if (token.kind === 'positional') return [token.value];
    if (token.kind !== 'option' || token.name in known) return [];
    return [token.value === undefined ? token.rawName : `${token.rawName}=${token.value}`];
  });
  return {
    env: Object.fromEntries(env.map(([name, value]) => [variableOf(name), String(value)])),
    others,
    isHelp: values.help === true,
  };
}

/** Reads the options from the environment. Default: a random seed and the short set. */
export function faultOptions(env: NodeJS.ProcessEnv): FaultOptions {
  return {
    isLong: env[variableOf('long')] === 'true',
    minutes: Number(env[variableOf('minutes')] ?? 60),
    seed: Number(env[variableOf('seed')] ?? randomInt(2 ** 31)),
    only: new RegExp(env[variableOf('only')] ?? ''),
    hasLeastStore: env[variableOf('least-store')] === 'true',
    report: env[variableOf('report')] ?? join(tmpdir(), 'echodrop-faults.json'),
  };
}

function variableOf(name: string): string {
  return `FAULTS_${name.toUpperCase().replaceAll('-', '_')}`;
}
