import { join } from 'node:path';
import { execa } from 'execa';
import { allScenarios } from './all-scenarios.ts';
import { splitArguments, usage } from './run-options.ts';

const { env, others, isHelp } = splitArguments(process.argv.slice(2));
if (isHelp) {
  process.stdout.write(`${usage}

Scenarios:
${allScenarios.map(({ name }) => `  ${name}`).join('\n')}
`);
  process.exit(0);
}
const config = join(import.meta.dirname, 'vitest.config.ts');
const { exitCode } = await execa('vitest', ['run', '--config', config, ...others], {
  env,
  preferLocal: true,
  stdio: 'inherit',
  reject: false,
});
process.exitCode = exitCode ?? 1;
