import { readProvider } from '@echodrop/identity-provider/provider';
import { profileNames, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { expect, test } from 'vitest';
import { sandboxProfiles } from './profiles.ts';
import { send, startSandbox } from './sandbox.fixture.ts';

test('shows all credentials, every endpoint, and a valid IDENTITY_PROVIDERS', async () => {
  await using sandbox = await startSandbox();
  const { headers, body } = await send(sandbox.origin, {});
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  const known = [
    'sandbox-consumer',
    'sandbox-consumer-secret',
    '12345-sandbox',
    'sandbox-token-secret',
    'sandbox-bearer',
  ];
  for (const credential of known) expect(body).toContain(`<code>${credential}</code>`);
  for (const name of profileNames)
    expect(body).toContain(`<code>${sandbox.origin}${sandboxProfiles[name].path}</code>`);

  const [, setting = ''] = /IDENTITY_PROVIDERS=&#39;([^&]*)&#39;/.exec(body) ?? [];
  const providers = setting.split(',').map((entry) => readProvider(entry.trim()));
  expect(providers).toMatchObject(profileNames.map((name) => ({ profile: providerProfiles[name] })));
});

test('shows addresses at the requested host', async () => {
  await using sandbox = await startSandbox();
  const { body } = await send(sandbox.origin, { host: 'sandbox.example', 'x-forwarded-proto': 'https' });
  expect(body).toContain('<code>https://sandbox.example/userinfo</code>');
  expect(body).not.toContain('127.0.0.1');
});

test('shows the form only at addresses that may change the behaviour', async () => {
  await using sandbox = await startSandbox();
  expect((await send(sandbox.origin, { host: 'localhost' })).body).toContain('<form');
  expect((await send(sandbox.origin, { host: 'sandbox.example' })).body).not.toContain('<form');
});

test('escapes names and credentials', async () => {
  const odd = `"'><script>alert(1)</script>&amp;`;
  const user = { id: odd, screenName: odd, name: odd, oauthTokens: [{ token: odd, secret: odd }], bearerTokens: [odd] };
  await using sandbox = await startSandbox({ consumers: [{ key: odd, secret: odd }], users: [user] });
  const { body } = await send(sandbox.origin, {});
  expect(body).not.toContain('<script');
  expect(
    body.match(/&quot;&#39;&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;&amp;amp;/g)?.length,
  ).toBeGreaterThanOrEqual(7);
});

test('shows the first of many users and the number of others', async () => {
  const users = Array.from({ length: 1000 }, (_, i) => ({
    id: BigInt(i),
    screenName: `user${i}`,
    name: 'One of many',
    oauthTokens: [],
    bearerTokens: [`token${i}`],
  }));
  await using sandbox = await startSandbox({ consumers: [], users });
  const { body } = await send(sandbox.origin, {});
  expect(body).toContain('<code>token19</code>');
  expect(body).not.toContain('<code>token20</code>');
  expect(body).toContain('<p>And 980 more users.</p>');
});

test('forbids framing, and loads only its own style', async () => {
  await using sandbox = await startSandbox();
  const { headers } = await send(sandbox.origin, {});
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  const style = await send(`${sandbox.origin}/sandbox.css`, {});
  expect([style.status, style.headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
});
