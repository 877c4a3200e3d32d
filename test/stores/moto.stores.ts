import { describeStore } from './describe-store.ts';
import { canRun, notes } from './store-kind.ts';

await describeStore({
  name: 'moto',
  from: 'pip install --require-hashes --no-deps -r test/stores/requirements.txt in a virtual environment that is in PATH',
  find: async () =>
    (await canRun('python3', '-c', 'import moto.server')) ? ['python3', '-m', 'moto.server'] : undefined,
  prepare: async ({ port }) => ({ args: ['-H', '127.0.0.1', '-p', `${port}`] }),
  findings: [notes.tags, notes.wrongTime],
  isInMemory: true,
  datesUploadsWrongly: true,
});
