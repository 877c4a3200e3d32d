import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@echodrop/testkit/free-ports';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { execa } from 'execa';

export interface RunningProxy extends AsyncDisposable {
  readonly origin: string;
}

/** Starts HAProxy with TLS and HTTP/2 in front of a gateway. */
export async function startHaproxy(folder: string, gateway: string, tls: string): Promise<RunningProxy> {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const file = join(folder, 'haproxy.conf');
  const configuration = `defaults
  mode http
  timeout connect 5s
  timeout client 100s
  timeout server 100s
frontend clients
  bind 127.0.0.1:${port} ssl crt ${tls} alpn h2,http/1.1
  default_backend gateway
backend gateway
  server gateway ${new URL(gateway).host}
`;
  await writeFile(file, configuration);
  const origin = `https://127.0.0.1:${port}`;
  const isReady = async () => !(await execa('curl', ['-sk', `${origin}/openapi.json`], { reject: false })).failed;
  const server = await ServerProcess.start({ command: ['haproxy', '-f', file], isReady });
  return { origin, [Symbol.asyncDispose]: () => server.stop() };
}

/** Makes a certificate for loopback, with its key, in one file. @returns its path */
export async function makeCertificate(folder: string): Promise<string> {
  const [key, certificate, both] = ['key.pem', 'certificate.pem', 'tls.pem'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await execa('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'],
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', certificate],
  ]);
  await writeFile(both, `${await readFile(certificate, 'utf8')}${await readFile(key, 'utf8')}`);
  return both;
}
