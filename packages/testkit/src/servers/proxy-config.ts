import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../../../deploy/proxy');

/** The configuration of the proxy as one text. `servers` replaces the servers of Compose. */
export function proxyConfig(servers?: string): string {
  return include('nginx.conf', { 'servers.conf': servers });
}

function include(name: string, others: Readonly<Record<string, string | undefined>>): string {
  const text = others[name] ?? readFileSync(join(folder, name), 'utf8');
  return text.replaceAll(/^( *)include ([\w-]+\.conf);\n/gm, (line, indent: string, included: string) => {
    if (others[included] === undefined && !existsSync(join(folder, included))) return line;
    return include(included, others).replaceAll(/^(?=.)/gm, indent);
  });
}
