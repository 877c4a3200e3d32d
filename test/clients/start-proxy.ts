import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@echodrop/testkit/free-ports';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { execa } from 'execa';

export interface RunningProxy extends AsyncDisposable {
  readonly origin: string;
}

/** Starts nginx with its default settings and `more`, in front of a gateway. With TLS it offers HTTP/2. */
export function startNginx(folder: string, gateway: string, more: string, tls?: string): Promise<RunningProxy> {
  return startProxy('nginx', folder, tls !== undefined, (port) => {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    // Workers of another user could not write below the folder of the stack.
    return `daemon off; user root; pid ${folder}/nginx.pid; error_log stderr;
      events {}
      http {
        access_log off;
        ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
        ${tls === undefined ? '' : `ssl_certificate ${tls}; ssl_certificate_key ${tls};`}
        server {
          listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl http2'};
          ${more}
          location / { proxy_pass ${gateway}; proxy_set_header Host $http_host; }
        }
      }`;
  });
}

/** Starts HAProxy with TLS and HTTP/2 in front of a gateway. */
export function startHaproxy(folder: string, gateway: string, tls: string): Promise<RunningProxy> {
  return startProxy('haproxy', folder, true, (port) => {
    return `defaults
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
  });
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

async function startProxy(
  name: 'nginx' | 'haproxy',
  folder: string,
  isTls: boolean,
  configure: (port: number) => string,
): Promise<RunningProxy> {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const file = join(folder, `${name}.conf`);
  await writeFile(file, configure(port));
  const origin = `http${isTls ? 's' : ''}://127.0.0.1:${port}`;
  const command: [string, ...string[]] = name === 'nginx' ? ['nginx', '-c', file] : ['haproxy', '-f', file];
  const isReady = async () => !(await execa('curl', ['-sk', `${origin}/openapi.json`], { reject: false })).failed;
  const server = await ServerProcess.start({ command, isReady });
  return { origin, [Symbol.asyncDispose]: () => server.stop() };
}
