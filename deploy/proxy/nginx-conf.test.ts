import { proxyConfig } from '@echodrop/testkit/servers/proxy-config';
import { expect, test } from 'vitest';

const text = proxyConfig().replace(/^ *#.*\n/gm, '');

function only(pattern: RegExp): string {
  const found = [...text.matchAll(new RegExp(pattern, 'gm'))].map(([, value = '']) => value);
  expect({ pattern, found }).toEqual({ pattern, found: [expect.any(String)] });
  return found[0] ?? '';
}

test('has descriptors for all connections on machines that allow 20,000', () => {
  const connections = Number(only(/^ *worker_connections (\d+);$/));
  const descriptors = Number(only(/^ *worker_rlimit_nofile (\d+);$/));
  expect(descriptors).toBeGreaterThanOrEqual(2 * connections);
  expect(descriptors).toBeLessThanOrEqual(20_000);
});

test.each([
  [8080, 'connections', 'requests'],
  [8081, 'readers', 'pages'],
  [8085, 'readers', 'pages'],
])('limits connections and requests of each client on port %i', (port, connections, requests) => {
  const server = text.split('\n  server {').find((each) => each.includes(`\n    listen ${port};`)) ?? '';
  // At server level, so it applies to every location.
  expect(server).toMatch(new RegExp(`^ {4}limit_conn ${connections} \\d+;$`, 'm'));
  expect(server).toMatch(new RegExp(`^ {4}limit_req zone=${requests} burst=\\d+ nodelay;$`, 'm'));
  only(new RegExp(`^ *(limit_conn_zone \\$client_network zone=${connections}:10m;)$`));
  only(new RegExp(`^ *(limit_req_zone \\$client_network zone=${requests}:10m rate=\\d+r/s;)$`));
  expect(text.match(/^.*limit_\w+ .*\boff\b.*$/gm)).toBeNull();
  // Leaves connections for others: a request takes one to the client and one to the service.
  const most = Number(/limit_conn \w+ (\d+);/.exec(server)?.[1]);
  expect(4 * most).toBeLessThanOrEqual(Number(only(/worker_connections (\d+);/)));
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:ab12:3:4:5:6', '2001:db8:1:ab'],
  ['2001:db8:1:abff::9', '2001:db8:1:ab'],
  ['2001:db8:1:a12::9', '2001:db8:1:a'],
  ['2001:db8:1:12::9', '2001:db8:1:'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:'],
  ['2001:db8:1::9', '2001:db8:1:'],
  ['2001:db8::9', '2001:db8::'],
])('counts %s as a client of %s', (address, network) => {
  expect(clientNetworkOf(address)).toBe(network);
});

// As nginx evaluates a map: the first matching regular expression, or the default.
function clientNetworkOf(address: string): string {
  const [, rules = ''] = /\n {2}map \$remote_addr \$client_network \{\n(.*?)\n {2}\}/s.exec(text) ?? [];
  for (const [, pattern = '', value = ''] of rules.matchAll(/^ *"~\*(.+?)" (.+);$/gm)) {
    const { groups } = new RegExp(pattern, 'i').exec(address) ?? {};
    if (groups) return value.replace(/^"|"$/g, '').replace(/\$(\w+)/g, (_, name) => groups[name] ?? '');
  }
  expect(rules).toMatch(/^ *default \$remote_addr;$/m);
  return address;
}
