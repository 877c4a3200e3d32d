import { stopSignal } from '@echodrop/service/stop-signals';
import { runAdmin } from './run-admin.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe is gone, as with `| head -1`. The exit status is 128 and the number of SIGPIPE.
  if (error.code === 'EPIPE') process.exit(141);
  process.stderr.write(`Cannot write to standard output: ${error.message}\n`);
  process.exit(1);
});
const stop = stopSignal();
process.exitCode = await runAdmin(process.argv.slice(2), process.env, process, stop);
// Requests of an interrupted command must not keep the process.
if (stop.aborted) process.exit();
