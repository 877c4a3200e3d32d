import { resolve } from 'node:path';
import { InvalidSettings } from '@echodrop/service/env';
import { ExecaError } from 'execa';
import { makeOverlay } from './make-overlay.ts';

// `npm run overlay -- FOLDER`: makes an overlay from its settings, and checks it.
const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || others.length > 0) {
  process.stderr.write('usage: npm run overlay -- FOLDER, such as deploy/kubernetes/overlays/mine\n');
  process.exit(64);
}
try {
  const outcome = await makeOverlay(resolve(process.env['INIT_CWD'] ?? '.', folder));
  const messages = {
    example: `Made ${folder}/settings.env. Edit it, then run this command again.`,
    made: `Made ${folder}/kustomization.yaml and found no faults. To apply it: kubectl apply -k ${folder}`,
    checked: `Found no faults in ${folder}. It has no settings.env, so kustomization.yaml is unchanged.`,
  };
  process.stdout.write(`${messages[outcome]}\n`);
} catch (error) {
  if (error instanceof InvalidSettings) process.stderr.write(`${folder} has faults:\n  ${error.faults.join('\n  ')}\n`);
  else if (error instanceof ExecaError && error.code === 'ENOENT') process.stderr.write('Install kubectl.\n');
  else if (error instanceof ExecaError) process.stderr.write(`${error.shortMessage}\n${error.stderr}\n`);
  else throw error;
  process.exitCode = 1;
}
