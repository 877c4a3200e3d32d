import { expect, test } from 'vitest';
import { sampleAsCurl, sampleTarget } from './first-upload.ts';

test('the command needs nothing but curl', () => {
  const sample = sampleTarget({});
  expect(sample && sampleAsCurl(sample)).toBe(
    "curl -H 'X-Auth-Service-Provider: http://127.0.0.1:8085/api/v1/accounts/verify_credentials' " +
      "-H 'X-Verify-Credentials-Authorization: Bearer sandbox-bearer' " +
      "-F key=sandbox-key -F 'message=Hello from Echodrop' -F media=@deploy/sample.jpg http://127.0.0.1:8080/2/upload.json",
  );
});

test('the command has the configured ports', () => {
  const sample = sampleTarget({ SANDBOX_PROVIDER_PORT: '1', PORT: '2' });
  const command = sample && sampleAsCurl(sample);
  expect(command).toContain("'X-Auth-Service-Provider: http://127.0.0.1:1/");
  expect(command).toContain(' http://127.0.0.1:2/2/upload.json');
});

test('the command quotes the first key and the first base path for the shell', () => {
  const sample = sampleTarget({ API_KEYS: 'app=first, second', BASE_PATHS: '/api/,/' });
  expect(sample).toMatchObject({ apiKey: 'first', service: 'http://127.0.0.1:8080/api' });
  const quoted = sampleTarget({ API_KEYS: "it's $HOME" });
  expect(quoted && sampleAsCurl(quoted)).toContain("-F 'key=it'\\''s $HOME'");
});

test('knows no credentials of another provider', () => {
  expect(sampleTarget({ IDENTITY_PROVIDERS: 'https://id.example' })).toBeUndefined();
});

test('sends no sample if the sandbox has its own users', () => {
  expect(sampleTarget({ SANDBOX_USERS_FILE: 'users.json' })).toBeUndefined();
});
