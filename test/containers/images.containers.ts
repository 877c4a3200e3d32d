import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { revision, root, source, version } from './compose-system.ts';

const services = ['gateway', 'site', 'auth-verifier', 'probe-worker', 'rendition-worker', 'sandbox-provider'];
const images = [...services, 'admin', 'proxy'];
const { version: release } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [, proxyVersion] = /^ARG VERSION=(.*)$/m.exec(readFileSync(join(root, 'deploy/proxy/Dockerfile'), 'utf8')) ?? [];

test.each(['-f deploy/Dockerfile .', 'deploy/proxy'])('docker build --check has nothing to say of %s', async (what) => {
  const { all } = await execa('docker', ['build', '--check', ...what.split(' ')], { cwd: root, all: true });
  expect(all).toContain('Check complete, no warnings found.');
});

test('a release is for two platforms, with an SBOM and its provenance, and needs to know where its source is', async () => {
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

test.each(images)('the image of %s says what it is, and runs as a user of its own', async (name) => {
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

test.each(services)(
  '%s starts with nothing to write to and no capability, and reports what it misses',
  async (name) => {
    // A port that is none, for the one that has no other required setting.
    const { exitCode, stderr } = await runBare(name, ['-e', 'OPS_PORT=none']);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 78,
      stderr: expect.stringContaining(`${name}: OPS_PORT must be`),
    });
  },
);

// The only one that needs no setting.
test('a service that is stopped while it starts ends by itself', async () => {
  const slowly = ['--detach', '--cpus', '0.2', '--network', 'none'];
  const { stdout: id } = await execa('docker', ['run', ...slowly, `echodrop/sandbox-provider:${version}`]);
  try {
    await execa('docker', ['stop', '--timeout', '20', id]);
    const { stdout: exitCode } = await execa('docker', ['inspect', '--format', '{{.State.ExitCode}}', id]);
    // 128 and SIGTERM; killed after all it would be 137.
    expect(exitCode).toBe('143');
  } finally {
    await execa('docker', ['rm', '--force', id]);
  }
});

test('the commands start so too', async () => {
  const { exitCode, stdout } = await runBare('admin', [], ['--help']);
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Usage') });
});

test('the proxy starts so too, with a folder for what it writes', async () => {
  const { exitCode, stderr } = await runBare(
    'proxy',
    ['--tmpfs', '/tmp', '--entrypoint', 'sh'],
    ['-c', 'start & until is-ready 2>/dev/null; do sleep 0.1; done'],
  );
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
});

test.each([...services, 'admin'])(
  '%s holds what it needs: no other service, no package of tests or of the build, no source code, no second platform',
  async (name) => {
    const said = 'ls services tools; ls node_modules/.pnpm packages; command -v ffprobe npm pnpm; find . -name "*.ts"';
    const { stdout } = await runBare(name, ['--entrypoint', 'sh'], ['-c', said]);
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
