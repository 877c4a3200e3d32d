import type { ContainerSettings } from './container-settings.ts';

/** The addresses of the services behind the proxy. */
interface Upstreams {
  readonly gateway: string;
  readonly site: string;
  readonly sandbox: string;
}

// Every path of the sandbox but `/`. Its `/1/account/` is more specific than the gateway's `/1/`.
const sandboxPaths =
  '^/(?:sandbox(?:\\.css)?$|behaviour$|jwks$|userinfo$|1/account/|api/|oauth/|wp-json/|_matrix/|\\.well-known/(?:openid-configuration|oauth-authorization-server)$)';

/** The servers of the proxy (deploy/proxy/nginx.conf): one origin, with uploads below `roots` and pages at all other paths. */
export function proxyServers(
  { origin, hasSandbox, roots }: Pick<ContainerSettings, 'origin' | 'hasSandbox' | 'roots'>,
  { gateway, site, sandbox }: Upstreams,
): string {
  return [
    ...(hasSandbox ? refuseOtherHosts(origin) : []),
    'server {',
    '  listen 8080;',
    ...(hasSandbox ? ['  server_name 127.0.0.1 localhost;'] : []),
    '  include refusal-locations.conf;',
    '',
    ...(hasSandbox ? location(sandboxPaths, ['include page-limits.conf;', `proxy_pass ${sandbox};`]) : []),
    ...roots.flatMap((root) => location(gatewayPaths(root), ['include gateway.conf;', `proxy_pass ${gateway};`])),
    '  location / {',
    '    include site.conf;',
    `    proxy_pass ${site};`,
    '  }',
    '}',
    '',
  ].join('\n');
}

// Everyone knows the credentials of the sandbox. Browsers of strangers, and pages of other sites, name another host.
function refuseOtherHosts(origin: string): string[] {
  return [
    'server {',
    '  listen 8080 default_server;',
    '  default_type text/plain;',
    `  return 421 "This is a trial of Echodrop for one machine. It responds only at ${origin}\\n";`,
    '}',
    '',
  ];
}

function location(pattern: string, lines: readonly string[]): string[] {
  return [`  location ~ "${pattern}" {`, ...lines.map((line) => `    ${line}`), '  }', ''];
}

/** A path of its own belongs to the gateway as a whole; the root is shared with the site. */
function gatewayPaths(root: string): string {
  return root === '' ? '^/(?:[12]/|files(?:/|$)|openapi\\.json$)' : `^${root.replaceAll('.', '\\.')}(?:/|$)`;
}
