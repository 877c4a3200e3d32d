import { randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Options of `npm run test:faults`. */
export interface FaultOptions {
  readonly isLong: boolean;
  /** When a long one ends at the latest, its checks not counted. */
  readonly minutes: number;
  readonly seed: number;
  readonly only: RegExp;
  /** Where the table goes, as JSON. */
  readonly report: string;
}

const known = {
  long: { type: 'boolean' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  only: { type: 'string' },
  report: { type: 'string' },
} as const;

/** Splits arguments: the environment for those that are ours, and the others, which are Vitest's. */
export function splitArguments(args: readonly string[]): { env: Record<string, string>; others: string[] } {
  const { values, tokens } = parseArgs({ args: [...args], options: known, strict: false, tokens: true });
  const env = Object.entries(values).filter(([name]) => name in known);
  const others = tokens.flatMap((token) => {
    if (token.kind === 'positional') return [token.value];
    if (token.kind !== 'option' || token.name in known) return [];
    return [token.value === undefined ? token.rawName : `${token.rawName}=${token.value}`];
  });
  return { env: Object.fromEntries(env.map(([name, value]) => [variableOf(name), String(value)])), others };
}

/** The options that `splitArguments` has put into the environment; by chance, or the short set, where they are not there. */
export function faultOptions(env: NodeJS.ProcessEnv): FaultOptions {
  return {
    isLong: env[variableOf('long')] === 'true',
    minutes: Number(env[variableOf('minutes')] ?? 60),
    seed: Number(env[variableOf('seed')] ?? randomInt(2 ** 31)),
    only: new RegExp(env[variableOf('only')] ?? ''),
    report: env[variableOf('report')] ?? join(tmpdir(), 'echodrop-faults.json'),
  };
}

function variableOf(name: string): string {
  return `FAULTS_${name.toUpperCase()}`;
}
