#!/usr/bin/env node
import { processStreams } from './process-streams.ts';
import { runCli } from './run-cli.ts';

const context = {
  env: process.env,
  // The folder is read only when it is needed: reading fails if the folder was deleted.
  get cwd() {
    return process.cwd();
  },
  ...processStreams(),
};
process.exitCode = await runCli(process.argv.slice(2), context);
