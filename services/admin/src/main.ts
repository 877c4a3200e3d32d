import { runAdmin } from './run-admin.ts';

// The reader of a pipe is gone, as with `| head -1`: 128 and the number of SIGPIPE.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 141 : 1));
process.exitCode = await runAdmin(process.argv.slice(2), process.env, process);
