import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { patienceMs } from '@echodrop/testkit/patience';
import { execa } from 'execa';
import type { ClientUpload } from './client-upload.ts';

// `mvn dependency:copy-dependencies` copies them here.
const jars = join(import.meta.dirname, '../../node_modules/.cache/java-clients');

/** Runs a program of this folder with Python. @returns what it printed */
export function runPython(program: string, upload: ClientUpload, ...more: readonly string[]): Promise<string> {
  return run('python3', [pathOf(program), ...argsOf(upload), ...more]);
}

/** Compiles and runs a program of the folder `java`. @returns what it printed */
export function runJava(program: string, upload: ClientUpload, ...more: readonly string[]): Promise<string> {
  // Each program runs once, so JIT optimization does not pay off.
  const java = ['-XX:TieredStopAtLevel=1', '-Xshare:auto', '-cp', `${jars}/*`, pathOf(`java/${program}`)];
  return run('java', [...java, ...argsOf(upload), ...more]);
}

export function canImport(...modules: readonly string[]): Promise<boolean> {
  return canRun('python3', '-c', `import ${modules.join(', ')}`);
}

export async function canRunJava(): Promise<boolean> {
  return existsSync(jars) && (await canRun('javac', '-version'));
}

export async function canRun(command: string, ...args: readonly string[]): Promise<boolean> {
  return !(await execa(command, args, { reject: false })).failed;
}

export function pathOf(program: string): string {
  return join(import.meta.dirname, program);
}

async function run(command: string, args: readonly string[]): Promise<string> {
  // Java reads arguments and writes output in the encoding of the locale.
  const env = { LC_ALL: 'C.UTF-8', JAVA_TOOL_OPTIONS: '-Dfile.encoding=UTF-8' };
  return (await execa(command, args, { timeout: patienceMs, env })).stdout;
}

function argsOf({ address, provider, authorization, key, message, file }: ClientUpload): string[] {
  return [address, provider, authorization, key, message, file];
}
