import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-ports.ts';
import { proxyConfig } from './proxy-config.ts';
import { runNginx } from './start-nginx.ts';

interface Proxy extends AsyncDisposable {
  /** Where pages are. */
  readonly origin: string;
  readonly pid: number;
  /** The folder that is `/tmp` in its image. */
  readonly folder: string;
  /** Its error log so far. The access log is `access.log` in the folder. */
  readonly errors: string;
}

/** The proxy of Compose, with its own configuration, in front of a site. It trusts `X-Forwarded-For`. @throws Error if it does not start */
export function startProxy(site: string): Promise<Proxy> {
  // An address needs no DNS.
  return start(proxyConfig().replace('site:8081;', `${new URL(site).host};`), 8081);
}

/** The proxy with these servers instead of those of Compose. One of them must listen on 8080. */
export function startProxyOf(servers: string): Promise<Proxy> {
  return start(proxyConfig(servers), 8080);
}

async function start(text: string, listens: number): Promise<Proxy> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'proxy-'))).path;
  await writeFile(join(folder, 'trusted-proxies.conf'), 'set_real_ip_from 127.0.0.0/8;\n');
  const port = await freePort();
  const ports: Record<string, number> = { [listens]: port };
  let config = text;
  for (const [line, listen = ''] of config.matchAll(/^ *listen (?:127\.0\.0\.1:)?(\d+)(?= default_server;$|;$)/gm)) {
    ports[listen] ??= await freePort();
    config = config.replace(line, `listen 127.0.0.1:${ports[listen]}`);
  }
  config = config
    .replaceAll('/tmp/', `${folder}/`)
    .replace('/dev/stdout', `${folder}/access.log`)
    .replace('include mime.types;', '');
  // For root, nginx would run its workers as another user, who may not enter the folder.
  const running = await runNginx(folder, `daemon off; user root;\n${config}`, port);
  // A killed master would leave its workers.
  parts.defer(() => running.stop());
  const moved = parts.move();
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: running.pid ?? 0,
    folder,
    get errors() {
      return running.output;
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}
