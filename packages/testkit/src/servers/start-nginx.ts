import { once } from 'node:events';
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../find-program.ts';
import { freePort } from '../free-ports.ts';
import { ServerProcess } from './server-process.ts';

/** The path of nginx, if it is installed. */
export const nginx = (await findProgram('nginx')) ?? (await findProgram('/usr/sbin/nginx'));

interface Nginx extends AsyncDisposable {
  readonly origin: string;
  readonly pid: number;
}

interface NginxOptions {
  /** Directives of the server, beside its default settings. */
  readonly directives?: string;
  /** A file with a certificate and its key, for TLS and HTTP/2. */
  readonly tls?: string;
}

/** An nginx in front of `target` (an origin). @throws Error if it does not start */
export async function startNginx(target: string, { directives = '', tls }: NginxOptions = {}): Promise<Nginx> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'nginx-'))).path;
  const port = await freePort();
  await mkdir(join(folder, 'temp'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path temp/${name};`,
  );
  const config = `daemon off; master_process off; pid nginx.pid; error_log stderr; worker_processes 1;
    events {}
    http {
      access_log off; ${temporary.join(' ')} proxy_set_header Host $http_host;
      ${tls === undefined ? '' : `ssl_certificate ${tls}; ssl_certificate_key ${tls};`}
      server {
        listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl http2'};
        ${directives}
        location / { proxy_pass ${target}; }
      }
    }`;
  const origin = `http${tls === undefined ? '' : 's'}://127.0.0.1:${port}`;
  const running = parts.use(await runNginx(folder, config, port));
  const moved = parts.move();
  return { origin, pid: running.pid ?? 0, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/** Runs nginx in `folder` with this configuration, which makes it listen on `port`. */
export async function runNginx(folder: string, config: string, port: number): Promise<ServerProcess> {
  const file = join(folder, 'nginx.conf');
  await writeFile(file, config);
  const command = [nginx ?? 'nginx', '-e', 'stderr', '-p', folder, '-c', file] as const;
  return ServerProcess.start({ command, isReady: () => isListening(port) });
}

/** Whether a process listens on a port of this machine. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
