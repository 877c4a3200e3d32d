import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@echodrop/testkit/find-program';
import { freePort } from '@echodrop/testkit/free-ports';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { redisProgram } from '@echodrop/testkit/servers/start-redis';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const password = 'p@ss/w:rd,%';
const parts = new AsyncDisposableStack();
let folder: string;
let certificate: string;
let ports: { server: number; sentinel: number; cluster: number };

describe('Redis over TLS', unlessMissing({ openssl: (await findProgram('openssl')) !== undefined }), () => {
  beforeAll(async () => {
    folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-redis-tls-'))).path;
    certificate = join(folder, 'certificate.pem');
    const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'.split(' ');
    const subject = ['-subj', '/CN=redis of a test', '-addext', 'subjectAltName=IP:127.0.0.1'];
    await execa('openssl', [...request, ...subject, '-keyout', join(folder, 'key.pem'), '-out', certificate]);
    const server = await start(['save ""']);
    const cluster = await start([
      'save ""',
      'cluster-enabled yes',
      `cluster-port ${await freePort()}`,
      'tls-cluster yes',
      'cluster-announce-ip 127.0.0.1',
    ]);
    await send(cluster, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await waitUntil('a complete cluster', async () =>
      (await send(cluster, 'CLUSTER', 'INFO')).includes('cluster_state:ok'),
    );
    const sentinel = await start(
      ['tls-replication yes', `sentinel monitor mine 127.0.0.1 ${server} 1`, `sentinel auth-pass mine "${password}"`],
      ['--sentinel'],
    );
    ports = { server, sentinel, cluster };
  });
  afterAll(() => parts.disposeAsync());

  /** A Redis that requires TLS and the password. */
  async function start(settings: readonly string[], flags: readonly string[] = []): Promise<number> {
    const port = await freePort();
    const file = join(folder, `${port}.conf`);
    const common = [
      'port 0',
      `tls-port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `dbfilename ${port}.rdb`,
      `tls-cert-file ${certificate}`,
      `tls-key-file ${join(folder, 'key.pem')}`,
      `tls-ca-cert-file ${certificate}`,
      'tls-auth-clients no',
      `requirepass "${password}"`,
    ];
    const cluster = settings.includes('cluster-enabled yes') ? [`cluster-config-file ${port}.nodes`] : [];
    await writeFile(file, `${[...common, ...cluster, ...settings].join('\n')}\n`);
    const command = [await redisProgram(), file, ...flags] as const;
    parts.use(await ServerProcess.start({ command, isReady: async () => (await send(port, 'PING')) === 'PONG' }));
    return port;
  }

  async function send(port: number, ...words: string[]): Promise<string> {
    const options = ['--tls', '--cacert', certificate, '-p', `${port}`, '--no-auth-warning', '-a', password];
    return (await execa('redis-cli', [...options, ...words], { reject: false })).stdout;
  }

  test.concurrent.each([
    ['a server', () => `rediss://:${encodeURIComponent(password)}@127.0.0.1:${ports.server}`],
    ['sentinels', () => `rediss+sentinel://:${encodeURIComponent(password)}@127.0.0.1:${ports.sentinel}/mine`],
    ['a cluster', () => `rediss+cluster://default:${encodeURIComponent(password)}@127.0.0.1:${ports.cluster}`],
  ] as const)('connects to %s with TLS and a password, and only if its certificate is trusted', async (_, address) => {
    const fixture = join(import.meta.dirname, 'redis-tls.fixture.ts');
    const connect = (env: NodeJS.ProcessEnv) =>
      execa(process.execPath, [fixture, address()], { env, all: true, reject: false });
    const trusting = connect({ NODE_EXTRA_CA_CERTS: certificate });
    const distrusting = connect({});
    let output = '';
    distrusting.all?.on('data', (chunk) => {
      output += chunk;
    });
    expect((await trusting).all).toBe('OK');
    await waitUntil('a warning', async () => output.includes('Redis unreachable'));
    distrusting.kill('SIGKILL');
    expect((await distrusting).all).not.toContain('OK');
  });
});
