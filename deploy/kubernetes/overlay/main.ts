import { resolve } from 'node:path';
import { InvalidSettings } from '@echodrop/service/env';
import { ExecaError } from 'execa';
import { makeOverlay } from './make-overlay.ts';

const usage = `Usage: npm run overlay -- FOLDER

Makes a Kubernetes overlay in FOLDER from its settings.env, and checks it (docs/host/kubernetes.md). The first run
writes an example of settings.env. FOLDER is, for example, deploy/kubernetes/overlays/mine.
`;

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || folder.startsWith('-') || others.length > 0) {
  const isHelp = folder === '--help' || folder === '-h';
  (isHelp ? process.stdout : process.stderr).write(usage);
  process.exit(isHelp ? 0 : 64);
}
try {
  const outcome = await makeOverlay(resolve(process.env['INIT_CWD'] ?? '.', folder));
  const messages = {
    example: `Made ${folder}/settings.env. Edit it, then run this command again.`,
    made: `Made ${folder}/kustomization.yaml and found no faults. To apply it: kubectl apply -k ${folder}`,
    checked: `Found no faults in ${folder}. It has no settings.env, so the command changed nothing.`,
  };
  process.stdout.write(`${messages[outcome]}\n`);
} catch (error) {
  if (error instanceof InvalidSettings) process.stderr.write(`${folder} has faults:\n  ${error.faults.join('\n  ')}\n`);
  else if (error instanceof ExecaError && error.code === 'ENOENT') process.stderr.write('Install kubectl.\n');
  else if (error instanceof ExecaError) process.stderr.write(`${error.shortMessage}\n${error.stderr}\n`);
  else if (error instanceof Error && 'syscall' in error) process.stderr.write(`${folder}: ${error.message}\n`);
  else throw error;
  process.exitCode = 1;
}
