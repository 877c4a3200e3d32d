import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClient } from '@echodrop/build/build-client';
import { patienceMs } from '@echodrop/testkit/patience';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { listen } from '@echodrop/testkit/servers/listen';
import { execa } from 'execa';
import { endless } from './service.fixture.ts';

/** The package as `npm pack` makes it, and the folder of an application that can install it. */
export interface BuiltPackage extends AsyncDisposable {
  readonly tarball: string;
  /** What the tarball contains. */
  readonly built: string;
  readonly app: string;
}

/** The oldest Node that the package supports, and that of the workspace. */
export const nodeVersions = [20, 24] as const;

/** The program of a version of Node: NODE_20_BIN, this process's or the system's. Undefined if none of them has the version. */
export function findNode(version: (typeof nodeVersions)[number]): string | undefined {
  const candidates = [process.env['NODE_20_BIN'], process.execPath, '/usr/bin/node'];
  return candidates.find((path) => path && existsSync(path) && versionOf(path) === version);
}

function versionOf(node: string): number {
  return Number(execFileSync(node, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' }));
}

/** Builds and packs the package, and makes a folder with two photos for an application. */
export async function buildPackage(): Promise<BuiltPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'package-'));
  const built = join(folder, 'built');
  const app = join(folder, 'app');
  await buildClient(built, 'https://code.example/echodrop');
  const { stdout } = await execa('npm', ['pack', '--json', built], { cwd: folder });
  const tarball = join(folder, JSON.parse(stdout)[0].filename);
  await mkdir(app);
  await writeFile(join(app, 'package.json'), '{"private":true,"type":"module"}');
  await writeFile(join(app, 'sea.jpg'), await samplePhoto('jpg', { width: 64, height: 48 }));
  await writeFile(join(app, 'lake.jpg'), await samplePhoto('jpg', { width: 80, height: 48 }));
  return { tarball, built, app, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

// Of npm, for a registry that is away, refuses to serve, or breaks off. A dependency that does not exist (E404, ETARGET) is a fault of the package.
const registryFaults =
  /^E(CONN\w+|AI_\w+|NOTFOUND|\w*TIMEDOUT|\w*TIMEOUT|\w+UNREACH|PIPE|PROTO|INTEGRITY|RR_SSL_\w+|40[1378]|429|5\d\d)$|CERT|^FETCH_ERROR$/;

/**
 * Installs the package in its application. @returns why the registry did not deliver the dependencies; undefined if it did
 * @throws Error if npm fails for another reason
 */
export async function installPackage({ tarball, app }: BuiltPackage): Promise<string | undefined> {
  // By default, npm waits five minutes for a registry that does not respond, and up to a minute between attempts.
  const limits = ['--fetch-timeout=30000', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
  const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=4', ...limits, tarball];
  const installed = await execa('npm', args, { cwd: app, reject: false, timeout: 2 * patienceMs });
  if (!installed.failed) return undefined;
  const code = installed.timedOut
    ? 'ETIMEDOUT'
    : (/^npm (?:error|ERR!) code (\S+)$/m.exec(installed.stderr)?.[1] ?? '');
  if (!registryFaults.test(code)) throw installed;
  return `npm cannot install the client package: its registry does not deliver the dependencies (${code})`;
}

/** Runs a command in the application as a user of `node` does, with nothing of this process's environment. */
export async function runInApp({ app }: BuiltPackage, node: string, command: readonly [string, ...string[]]) {
  const home = join(app, '..', `home-${versionOf(node)}`);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'xdg-open'), `#!/bin/sh\nexec "${node}" -e 'fetch(process.argv[1])' "$1"\n`, {
    mode: 0o755,
  });
  const path = [home, join(app, 'node_modules/.bin'), join(node, '..'), '/usr/bin', '/bin'];
  const env = { PATH: path.join(':'), HOME: home, TOKEN: 'given' };
  const [file, ...args] = command;
  return execa(file, args, { cwd: app, env, extendEnv: false, timeout: patienceMs });
}

/** The examples of the client's pages in a language, one after the other. */
export async function examplesIn(language: 'js' | 'sh'): Promise<string> {
  const name = language === 'js' ? 'javascript' : 'command-line';
  const page = await readFile(join(import.meta.dirname, `../../../docs/integrate/${name}.md`), 'utf8');
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'));
  return [...blocks].map(([, code = '']) => code).join('\n');
}

/** Serves an empty page, the files of the package's browser entry, and endless responses to uploads. */
export async function startPages(): Promise<AsyncDisposable & { readonly origin: string; folder: string }> {
  const server = createServer(async (request, response) => {
    const name = /^\/([\w.-]+\.js)$/.exec(request.url ?? '')?.[1];
    if (request.method === 'POST') request.resume().on('end', () => endless(response));
    else if (name) response.setHeader('Content-Type', 'text/javascript').end(await readFile(join(pages.folder, name)));
    else
      response
        .setHeader('Content-Type', 'text/html')
        .end(
          '<!doctype html><title>A page</title><script type="importmap">{"imports":{"@echodrop/client":"/browser.js"}}</script>',
        );
  });
  const pages = { ...(await listen(server)), folder: '' };
  return pages;
}
