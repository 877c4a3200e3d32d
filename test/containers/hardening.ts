import { chmod, mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { variableOf } from '@echodrop/client/local-system';
import { compileHijackedTool } from '@echodrop/media/sandbox/hijacked-tool.fixture';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { type ComposeSystem, execIn, redisCommand } from './compose-system.ts';

const allServices = [
  'proxy',
  'gateway',
  'site',
  'auth-verifier',
  'probe-worker',
  'rendition-worker',
  'sweeper',
  'sandbox-provider',
  'sandbox-proxy',
  'queue-redis',
  'cache-redis',
  'minio',
  'store-set-up',
];

/** Tests that containers have only the rights, files and published ports that they need. */
export function testHardening(system: () => ComposeSystem): void {
  test('is hardened, and publishes only the proxies', async () => {
    for (const service of allServices) {
      const [{ Config, HostConfig }] = await inspect(system(), service);
      expect({ service, ...HostConfig }).toMatchObject({
        service,
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        SecurityOpt: expect.arrayContaining(['no-new-privileges:true']),
        RestartPolicy: { Name: 'unless-stopped' },
        LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '5' } },
        Memory: expect.any(Number),
      });
      expect(HostConfig.Memory).toBeGreaterThan(0);
      expect(Object.keys(HostConfig.PortBindings)).toEqual(
        { proxy: ['8080/tcp', '8081/tcp'], 'sandbox-proxy': ['8085/tcp'] }[service] ?? [],
      );
      const secrets = await secretsOf(system(), '', /^S3_ROOT_USER$|_ACCESS_KEY$/);
      expect(secrets.filter((secret) => JSON.stringify([Config.Env, Config.Cmd]).includes(secret))).toEqual([]);
    }
  });

  test('services use jemalloc', async () => {
    for (const service of ['gateway', 'site', 'auth-verifier', 'probe-worker', 'rendition-worker'])
      expect(await execIn(system(), service, 'cat', '/proc/1/maps')).toContain('libjemalloc.so.2');
  });

  test('persists the queue Redis, and evicts from the cache Redis', async () => {
    const setting = async (service: string, name: string) =>
      (await redisCommand(system(), service, 'config', 'get', name)).split('\n')[1];
    expect([await setting('queue-redis', 'maxmemory-policy'), await setting('queue-redis', 'appendonly')]).toEqual([
      'noeviction',
      'yes',
    ]);
    expect([await setting('cache-redis', 'maxmemory-policy'), await setting('cache-redis', 'appendonly')]).toEqual([
      'allkeys-lru',
      'no',
    ]);
    expect(await execIn(system(), 'queue-redis', 'redis-cli', 'ping')).toContain('NOAUTH');
  });

  test.each(['probe-worker', 'rendition-worker'])('a hijacked media tool of %s has no access', async (service) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'hijacked-'));
    const program = join(folder.path, 'hijacked');
    await compileHijackedTool(program, { folder: '/tmp', port: 6379 });
    await chmod(folder.path, 0o755);
    const run = [
      'run',
      '--rm',
      '-T',
      '--no-deps',
      '--volume',
      `${program}:/hijacked:ro`,
      '--entrypoint',
      'sh',
      service,
    ];
    // In a shell, because a process started by the engine loses its parent, which would end the tool.
    const shell = (mode: string) => [
      '-c',
      `packages/media/src/sandbox/landlock-and-seccomp.pl ${mode} $$ "$@" | head -c 4096`,
      'sh',
    ];
    const limits = '5 5 1073741824 1073741824 0 0'.split(' ');
    // Seccomp 2: the filter of the engine's default profile (RuntimeDefault in Kubernetes).
    const rights = ['-c', "grep -E '^(Uid|NoNewPrivs|Seccomp):' /proc/self/status"];
    expect((await system().compose(...run, ...rights)).split(/\s+/)).toEqual(
      'Uid: 10001 10001 10001 10001 NoNewPrivs: 1 Seccomp: 2'.split(' '),
    );
    const runIn = (mode: string) => system().compose(...run, ...shell(mode), ...limits, '--', '/hijacked');
    expect(await system().compose('logs', '--no-log-prefix', service)).toContain(
      'Media tools run under Landlock and seccomp',
    );
    expect(await runIn('full')).toBe('begun');
    expect(await runIn('limits-only')).toContain('1 read a secret of its container');
  });

  test('no service has the root key or a key of another service', async () => {
    for (const service of allServices.filter((name) => name !== 'store-set-up')) {
      // Keys have the same name in every container, so compare values.
      const print = 'for file in /run/secrets/*S3_*; do [ ! -f "$file" ] || { cat "$file"; echo; }; done';
      const keys = (await execIn(system(), service, 'sh', '-c', print)).split(/\s+/).filter(Boolean);
      const own = service === 'minio' ? 'S3_ROOT_' : variableOf(service, 'S3_');
      expect({ service, keys: keys.sort() }).toEqual({ service, keys: (await secretsOf(system(), own)).sort() });
    }
  });
}

async function inspect({ containersOf }: ComposeSystem, service: string) {
  const { stdout } = await execa('docker', ['inspect', ...(await containersOf(service))]);
  return JSON.parse(stdout);
}

/** The values of secrets whose names begin with `prefix`, without public ones. */
async function secretsOf({ folder }: ComposeSystem, prefix: string, isPublic = /^$/): Promise<string[]> {
  const all = await readdir(join(folder, 'secrets'));
  const names = all.filter((name) => name.startsWith(prefix) && !isPublic.test(name));
  return Promise.all(names.map(async (name) => (await readFile(join(folder, 'secrets', name), 'utf8')).trim()));
}
