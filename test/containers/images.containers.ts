import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { revision, root, source, version } from './compose-system.ts';

const services = ['gateway', 'site', 'auth-verifier', 'probe-worker', 'rendition-worker', 'sandbox-provider'];
const images = [...services, 'admin', 'all', 'proxy'];
const { version: release } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [, proxyVersion] = /^ARG VERSION=(.*)$/m.exec(readFileSync(join(root, 'deploy/proxy/Dockerfile'), 'utf8')) ?? [];

test.each(['-f deploy/Dockerfile .', 'deploy/proxy'])('docker build --check accepts %s', async (what) => {
  const { all } = await execa('docker', ['build', '--check', ...what.split(' ')], { cwd: root, all: true });
  expect(all).toContain('Check complete, no warnings found.');
});

test('a release has two platforms, SBOM and provenance, and requires SOURCE', async () => {
  const plan = async (env: Record<string, string>) =>
    execa('docker', ['buildx', 'bake', '-f', 'deploy/docker-bake.hcl', '--print'], { cwd: root, env, reject: false });
  const { stdout } = await plan({ SOURCE: source, REVISION: revision, REGISTRY: 'registry.example/' });
  const { target } = JSON.parse(stdout) as { target: Record<string, Record<string, unknown>> };
  expect(Object.keys(target).sort()).toEqual([...images].sort());
  for (const [name, each] of Object.entries(target)) {
    expect(each).toMatchObject({
      platforms: ['linux/amd64', 'linux/arm64'],
      attest: [{ type: 'provenance', mode: 'max' }, { type: 'sbom' }],
      tags: [expect.stringMatching(new RegExp(`^registry\\.example/echodrop/${name}:\\d+(\\.\\d+\\.\\d+)?$`))],
      args: name === 'proxy' ? { SOURCE: source } : { REVISION: revision, SOURCE: source },
    });
  }
  expect((await plan({})).stderr).toContain('SOURCE must be');
});

test.each(images)('the image of %s has labels and a non-root user', async (name) => {
  const { Labels, User, Env, Healthcheck } = await configOf(name);
  const label = (key: string) => Labels[`org.opencontainers.image.${key}`];
  expect(label('title')).toBe(`echodrop/${name}`);
  expect(label('description')).toMatch(/^\S.{10,}$/);
  expect(label('licenses')).toBe('MIT');
  expect(label('source')).toBe(source);
  expect(label('documentation')).toMatch(`${source}/`);
  expect(label('base.name')).toBe('docker.io/library/debian:bookworm-slim');
  expect([label('version'), label('revision')]).toEqual(
    name === 'proxy' ? [proxyVersion, undefined] : [release, revision],
  );
  expect(User).toBe('10001:10001');
  expect(Env.join('\n')).not.toMatch(/SECRET|KEY|PASSWORD|TOKEN/);
  if (name !== 'admin') expect(Healthcheck?.Test[0]).toBe('CMD');
});

test.each(services)('%s starts without writable files or capabilities, and reports invalid settings', async (name) => {
  // The sandbox-provider has no required setting, so an invalid port must do.
  const { exitCode, stderr } = await runBare(name, ['-e', 'OPS_PORT=none']);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 78,
    stderr: expect.stringContaining(`${name}: OPS_PORT must be`),
  });
});

// The sandbox-provider is the only service without required settings.
test('a service that is stopped during its start exits on SIGTERM', async () => {
  const slowly = ['--detach', '--cpus', '0.2', '--network', 'none'];
  const { stdout: id } = await execa('docker', ['run', ...slowly, `echodrop/sandbox-provider:${version}`]);
  try {
    // Before it has begun, tini is deaf: the kernel drops signals to a first process without handlers.
    const processes = async () => (await execa('docker', ['top', id])).stdout.split('\n').slice(1);
    await waitUntil('the start of Node', async () => (await processes()).length > 1);
    await execa('docker', ['stop', '--timeout', '20', id]);
    const { stdout: exitCode } = await execa('docker', ['inspect', '--format', '{{.State.ExitCode}}', id]);
    // 128 + SIGTERM. After SIGKILL it would be 137.
    expect(exitCode).toBe('143');
  } finally {
    await execa('docker', ['rm', '--force', id]);
  }
});

test('the admin image starts the same way', async () => {
  const { exitCode, stdout } = await runBare('admin', [], ['--help']);
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Usage') });
});

test('the proxy starts the same way, with a writable /tmp', async () => {
  const { exitCode, stderr } = await runBare(
    'proxy',
    ['--tmpfs', '/tmp', '--entrypoint', 'sh'],
    ['-c', 'start & until is-ready 2>/dev/null; do sleep 0.1; done'],
  );
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
});

test.each([...services, 'admin'])(
  '%s contains no other service, test or build package, source code or second platform',
  async (name) => {
    const script =
      'ls services tools; ls node_modules/.pnpm packages; command -v ffprobe npm pnpm; find . -name "*.ts"';
    const { stdout } = await runBare(name, ['--entrypoint', 'sh'], ['-c', script]);
    const found = stdout.split('\n');
    expect(found.filter((each) => [...services, 'admin'].includes(each))).toEqual([name]);
    expect(
      found.filter((each) =>
        /^(node|vitest|typescript|playwright-core|rolldown)@|^(testkit|build)$|\.ts$|npm$|musl|darwin|win32|arm64/.test(
          each,
        ),
      ),
    ).toEqual([]);
    expect(found.includes('/usr/bin/ffprobe')).toBe(name.endsWith('-worker'));
  },
);

interface Config {
  readonly Labels: Record<string, string>;
  readonly User: string;
  readonly Env: readonly string[];
  readonly Healthcheck?: { readonly Test: readonly string[] };
}

async function configOf(name: string): Promise<Config> {
  const { stdout } = await execa('docker', [
    'image',
    'inspect',
    '--format',
    '{{json .Config}}',
    `echodrop/${name}:${version}`,
  ]);
  return JSON.parse(stdout);
}

function runBare(name: string, options: readonly string[], words: readonly string[] = []) {
  const hardened = [
    '--read-only',
    '--cap-drop',
    'ALL',
    '--user',
    '10001',
    '--network',
    'none',
    '--security-opt',
    'no-new-privileges',
  ];
  return execa('docker', ['run', '--rm', ...hardened, ...options, `echodrop/${name}:${version}`, ...words], {
    reject: false,
  });
}
