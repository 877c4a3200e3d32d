import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listen } from '@echodrop/testkit/servers/listen';
import { proxyConfig } from '@echodrop/testkit/servers/proxy-config';
import { nginx, startNginx } from '@echodrop/testkit/servers/start-nginx';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { expect, test } from 'vitest';

const text = proxyConfig();
// Of the block `http`. An nginx block with such a line inherits none.
const rules = [...text.matchAll(/^ {2}(?:proxy_set_header|real_ip_\w+) .*;$/gm)].join('\n');

test.each([
  ['no proxy', '', '127.0.0.1'],
  ['a proxy that the operator trusts', 'set_real_ip_from 127.0.0.0/8;', '198.51.100.7'],
])(
  'behind %s, a gateway gets one client address, and no other forwarded header of a client',
  unlessMissing({ nginx: nginx !== undefined }),
  async (_, trusted, client) => {
    expect(text.match(/^ {3,}proxy_set_header .*$/gm)).toBeNull();
    let received: IncomingHttpHeaders = {};
    await using gateway = await listen(
      createServer(({ headers }, response) => {
        received = headers;
        response.end();
      }),
    );
    await using proxy = await startNginx(gateway.origin, { directives: rules + trusted });
    const forged = {
      'X-Forwarded-For': '203.0.113.8, 198.51.100.7, 127.0.0.2',
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Proto': 'https',
      Forwarded: 'for=203.0.113.8',
    };
    expect((await fetch(proxy.origin, { headers: forged })).status).toBe(200);
    const { forwarded, 'x-forwarded-for': address, 'x-forwarded-host': host, 'x-forwarded-proto': scheme } = received;
    expect({ address, scheme, host, forwarded }).toEqual({ address: client, scheme: 'http' });
  },
);
