#!/usr/bin/env node
import { processStreams } from './process-streams.ts';
import { runCli } from './run-cli.ts';

const context = { env: process.env, cwd: process.cwd(), ...processStreams() };
process.exitCode = await runCli(process.argv.slice(2), context);
