import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Output of a process that runs `code` with `log` (level info) and `Secret`. */
function written(code: string): string {
  const from = (file: string) => JSON.stringify(join(import.meta.dirname, file));
  const program = `
    import { createLog } from ${from('log.ts')};
    import { Secret } from ${from('secret.ts')};
    const log = createLog('gateway', 'info');
    ${code}`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
}

test('a line is one JSON object with time, level and service', () => {
  const lines = written(`log.debug('no'); log.info({ mediaId: 'a\\nb' }, 'two\\nlines');`).trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    service: 'gateway',
    mediaId: 'a\nb',
    msg: 'two\nlines',
  });
});

test('escapes what a terminal could obey, in every string of a line, and keeps the values', () => {
  const text = written(`
    const evil = JSON.parse('"\\\\u009b31m\\\\u202e\\\\u2028\\\\u200b\\\\u007f"');
    log.child({ bound: evil }).info({ path: evil, [evil]: [{ deep: evil }], err: new Error(evil) }, evil);`);
  expect(text).toMatch(/^[ -~]+\n$/);
  const evil = '\u009b31m\u202e\u2028\u200b\u007f';
  expect(JSON.parse(text)).toMatchObject({
    bound: evil,
    path: evil,
    [evil]: [{ deep: evil }],
    msg: evil,
    err: { message: evil },
  });
});

test('cuts long values, which clients may choose', () => {
  const text = written(`
    const long = 'x'.repeat(15_000);
    log.info({ mediaId: long, request: { url: long }, err: new Error(long) }, 'refused');`);
  expect(text.length).toBeLessThan(15_000);
  const cut = `${'x'.repeat(1024)}...`;
  expect(JSON.parse(text)).toMatchObject({ mediaId: cut, request: { url: cut }, err: { message: cut } });
});

test('redacts credentials of requests, forms and errors', () => {
  const text = written(`
    const headers = {
      authorization: 'hunter2', Authorization: 'hunter2', cookie: 'hunter2', 'x-verify-credentials-authorization': 'hunter2',
    };
    const fields = {
      key: 'hunter2', consumer_token: 'hunter2', consumer_secret: 'hunter2', oauth_token: 'hunter2', oauth_secret: 'hunter2',
      consumerToken: 'hunter2', consumerSecret: 'hunter2', oauthToken: 'hunter2', oauthSecret: 'hunter2',
    };
    log.info(headers);
    log.info(fields);
    log.info({ headers, fields });
    log.info({ request: { headers, fields } });
    log.info({ secret: new Secret('hunter2'), list: [new Secret('hunter2')] });
    log.error({ err: Object.assign(new Error('refused'), { headers, secret: new Secret('hunter2') }) });`);
  expect(text.split('\n')).toHaveLength(7);
  expect(text).toContain('[secret]');
  expect(text).not.toContain('hunter2');
});

test('redacts credentials in lists, and in errors under any name', () => {
  const text = written(`
    const refused = Object.assign(new Error('refused'), { password: 'hunter2' });
    log.info({ list: [{ cookie: 'hunter2' }], cause: refused, err: 'no error' });
    log.error(refused);`);
  const [first, second] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(first).toMatchObject({ list: [{ cookie: '[secret]' }], cause: { password: '[secret]' }, err: 'no error' });
  expect(second).toMatchObject({ err: { message: 'refused', password: '[secret]', stack: expect.any(String) } });
});
