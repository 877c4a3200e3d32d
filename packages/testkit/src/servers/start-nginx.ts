import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../find-program.ts';
import { freePort } from '../free-ports.ts';
import { ServerProcess } from './server-process.ts';

/** The path of nginx, if it is installed. */
export const nginx = (await findProgram('nginx')) ?? (await findProgram('/usr/sbin/nginx'));

interface Nginx extends AsyncDisposable {
  readonly origin: string;
}

/** An nginx with its default settings, in front of `target` (an origin). @throws Error if it does not start */
export async function startNginx(target: string): Promise<Nginx> {
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
      access_log off; ${temporary.join(' ')}
      server { listen 127.0.0.1:${port}; location / { proxy_pass ${target}; proxy_set_header Host $http_host; } }
    }`;
  await writeFile(join(folder, 'nginx.conf'), config);
  const origin = `http://127.0.0.1:${port}`;
  parts.use(
    await ServerProcess.start({
      command: [nginx ?? 'nginx', '-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')],
      isReady: async () => (await fetch(origin).catch(() => undefined)) !== undefined,
    }),
  );
  const moved = parts.move();
  return { origin, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}
