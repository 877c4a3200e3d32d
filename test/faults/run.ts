import { join } from 'node:path';
import { execa } from 'execa';
import { splitArguments } from './run-options.ts';

// `npm run test:faults -- --long --seed 7 --only kill --report faults.json`, and whatever else Vitest knows.
const { env, others } = splitArguments(process.argv.slice(2));
const config = join(import.meta.dirname, 'vitest.config.ts');
const { exitCode } = await execa('vitest', ['run', '--config', config, ...others], {
  env,
  preferLocal: true,
  stdio: 'inherit',
  reject: false,
});
process.exitCode = exitCode ?? 1;
