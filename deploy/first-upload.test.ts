import { expect, test } from 'vitest';
import { sampleAsCurl, sampleTarget } from './first-upload.ts';

const secret = 'a secret of the tests, long enough';
const environments = (gateway: NodeJS.ProcessEnv) =>
  new Map([
    [
      'gateway' as const,
      {
        OBJECT_STORE: 'filesystem',
        OBJECT_STORE_DIR: '/data',
        REDIS_URL: 'redis://x',
        VERIFIER_SECRET: secret,
        ...gateway,
      },
    ],
  ]);
const target = (env: NodeJS.ProcessEnv, gateway: NodeJS.ProcessEnv) =>
  sampleTarget({ environments: environments(gateway) }, env);

test('the command signs anew each time it is run', () => {
  const sample = target({}, { API_KEYS: 'sandbox-key' });
  expect(sample && sampleAsCurl(sample)).toBe(
    'curl -H "X-Verify-Credentials-Authorization: $(npm run --silent sign)" ' +
      "-H 'X-Auth-Service-Provider: http://127.0.0.1:8085/1/account/verify_credentials.json' " +
      "-F key=sandbox-key -F 'message=Hello from Echodrop' -F media=@deploy/sample.jpg http://127.0.0.1:8080/2/upload.json",
  );
});

test('with other ports it signs for the address that follows from them', () => {
  const sample = target({ SANDBOX_PROVIDER_PORT: '1', PORT: '2' }, { API_KEYS: 'sandbox-key' });
  const command = sample && sampleAsCurl(sample);
  expect(command).toContain(
    '$(npm run --silent sign -- --provider http://127.0.0.1:1/1/account/verify_credentials.json)',
  );
  expect(command).toContain(' http://127.0.0.1:2/2/upload.json');
});

test("it takes the first key, named or not, and the first base path, and keeps the shell's hands off them", () => {
  expect(target({}, { API_KEYS: 'app.one=first=, second', BASE_PATHS: '/api/,/' })).toMatchObject({
    apiKey: 'first=',
    service: 'http://127.0.0.1:8080/api',
  });
  expect(target({}, { API_KEYS: ' plain ' })).toMatchObject({ apiKey: 'plain', service: 'http://127.0.0.1:8080' });
  const quoted = target({}, { API_KEYS: "it's $HOME" });
  expect(quoted && sampleAsCurl(quoted)).toContain("-F 'key=it'\\''s $HOME'");
});

test("where another provider is named, nobody's credentials are known", () => {
  expect(target({ IDENTITY_PROVIDERS: 'https://id.example' }, { API_KEYS: 'k' })).toBeUndefined();
});
