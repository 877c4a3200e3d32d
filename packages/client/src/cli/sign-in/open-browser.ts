import { spawn } from 'node:child_process';
import { webAddress } from '../command-context.ts';

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  // The address is an argument of its own, and not parsed by a shell.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens an address in the user's browser, if this machine has one. The address is printed too, so a failure does not matter. @throws UsageError for another scheme, which opens other programs */
export function openBrowser(address: string, env: NodeJS.ProcessEnv): void {
  webAddress('The sign-in URL', address);
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true, env });
  child.on('error', () => {});
  child.unref();
}
