#!/usr/bin/env node
import { runCli } from './run-cli.ts';

const { stdin, stdout, stderr } = process;
process.exitCode = await runCli(process.argv.slice(2), { env: process.env, cwd: process.cwd(), stdin, stdout, stderr });
