import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { axeViolations } from '@echodrop/testkit/browser/accessibility';
import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { openSignedIn, signInSettings } from '@echodrop/testkit/browser/signed-in-tab';
import { findProgram } from '@echodrop/testkit/find-program';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { startStandInServer } from '@echodrop/testkit/sign-in/stand-in-server';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

const withCurl = unlessMissing({ curl: (await findProgram('curl')) !== undefined });

/** The fields that ShareX reads (ShareX.UploadersLib/CustomUploader/CustomUploaderItem.cs). */
interface CustomUploader {
  readonly Version: string;
  readonly DestinationType: string;
  readonly RequestMethod: string;
  readonly RequestURL: string;
  readonly Headers: Record<string, string>;
  readonly Body: string;
  readonly Arguments: Record<string, string>;
  readonly FileFormName: string;
  readonly URL: string;
  readonly ErrorMessage: string;
}

await describeWithBrowser('files for other programs', (browser) => {
  const parts = new AsyncDisposableStack();
  let stack: Stack;
  let tab: Page;
  let problems: string[];
  let photo: Buffer;

  beforeAll(async () => {
    stack = parts.use(await startStack({ settings: signInSettings }));
    photo = await samplePhoto('png', { width: 64, height: 48 });
    ({ tab, problems } = parts.use(
      await openSignedIn(browser(), stack, { path: '/mine/apps', options: { acceptDownloads: true } }),
    ));
    await tab.locator('#apps').waitFor();
  });
  afterAll(() => parts.disposeAsync());

  async function downloaded(name: RegExp): Promise<{ path: string; fileName: string }> {
    const [download] = await Promise.all([tab.waitForEvent('download'), tab.getByRole('link', { name }).click()]);
    const path = join(stack.folder, download.suggestedFilename());
    await download.saveAs(path);
    return { path, fileName: download.suggestedFilename() };
  }

  async function captionAt(link: string): Promise<string> {
    expect(link).toMatch(new RegExp(`^${stack.site}/\\w{10}$`));
    const page = await fetch(link);
    expect(page.status).toBe(200);
    return /class="caption"[^>]*>([^<]*)</.exec(await page.text())?.[1] ?? '';
  }

  test('the page shows the token only if the user opens its section', async () => {
    const shown = () => tab.getByText('sandbox-bearer').filter({ visible: true }).count();
    expect(await shown()).toBe(0);
    expect(await tab.getByRole('button', { name: 'Copy token' }).isVisible()).toBe(true);
    await tab.getByText('Show the token').click();
    expect(await shown()).toBe(1);
    await tab.getByText('Show the token').click();
  });

  test('the page passes axe, fits a screen 320 px wide, and puts the token in no address', async () => {
    for (const summary of await tab.locator('summary').all()) await summary.click();
    expect(await axeViolations(tab)).toEqual([]);
    await tab.setViewportSize({ width: 320, height: 568 });
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await tab.setViewportSize({ width: 1280, height: 720 });
    const addresses = await tab.evaluate(`[location.href, ...performance.getEntries().map(({ name }) => name)].join()`);
    expect(addresses).not.toContain('sandbox-bearer');
    expect(problems).toEqual([]);
  });

  test('the ShareX uploader matches its declared version, and its request is accepted', async () => {
    const { path, fileName } = await downloaded(/Download .*\.sxcu/);
    expect(fileName).toBe('127.0.0.1.sxcu');
    const uploader: CustomUploader = JSON.parse(await readFile(path, 'utf8'));
    // ShareX converts uploaders up to 13.7.1 from the earlier syntax.
    expect(Number.parseInt(uploader.Version, 10)).toBeGreaterThanOrEqual(14);
    expect(uploader.DestinationType.split(', ')).toEqual(['ImageUploader', 'FileUploader']);
    expect([uploader.Body, uploader.RequestMethod]).toEqual(['MultipartFormData', 'POST']);
    const form = new FormData();
    for (const [name, value] of Object.entries(uploader.Arguments)) form.append(name, parse(value));
    form.append(uploader.FileFormName, new Blob([new Uint8Array(photo)], { type: 'image/png' }), 'screenshot.png');
    const headers = Object.entries(uploader.Headers).map(([name, value]): [string, string] => [name, parse(value)]);
    const send = (headers: [string, string][]) =>
      fetch(parse(uploader.RequestURL), { method: 'POST', headers, body: form });
    const response = await send(headers);
    expect(response.status).toBe(200);
    expect(await captionAt(parse(uploader.URL, await response.json()))).toBe('');
    const refused = await send([]);
    expect(parse(uploader.ErrorMessage, await refused.json())).toMatch(/^Missing credentials:/);
  });

  test(
    'the script uploads a file with a caption and screenshots of three tools, and copies the link',
    withCurl,
    async () => {
      const { path, fileName } = await downloaded(/Download echodrop-upload/);
      expect(fileName).toBe('echodrop-upload');
      const bin = join(stack.folder, 'bin');
      await mkdir(bin);
      const picture = join(stack.folder, `a "quoted", odd;name.png`);
      await writeFile(picture, photo);
      const quoted = `'${picture}'`;
      await Promise.all([
        program(bin, 'flameshot', `[ "$*" = 'gui --raw' ] && cat ${quoted}`),
        program(
          bin,
          'spectacle',
          `[ "$1 $2 $3 $4" = '--region --background --nonotify --output' ] && cp ${quoted} "$5"`,
        ),
        program(bin, 'slurp', `echo '1,2 3x4'`),
        program(bin, 'grim', `[ "$1 $2" = '-g 1,2 3x4' ] && cp ${quoted} "$3"`),
        program(bin, 'wl-copy', `cat > ${join(stack.folder, 'clipboard')}`),
        program(bin, 'xclip', `[ "$*" = '-selection clipboard' ] && cat > ${join(stack.folder, 'clipboard')}`),
      ]);
      const run = (args: readonly string[], env: Record<string, string> = {}) =>
        execa('sh', [path, ...args], {
          cwd: stack.folder,
          reject: false,
          env: { PATH: `${bin}:${process.env['PATH']}`, ...env },
        });
      const uploads: { args: string[]; env: Record<string, string>; caption: string }[] = [
        {
          args: [picture, `It's "here" & $HOME`],
          env: { WAYLAND_DISPLAY: 'w' },
          caption: 'It&#39;s &quot;here&quot; &amp; $HOME',
        },
        { args: ['a "quoted", odd;name.png'], env: { DISPLAY: ':0' }, caption: '' },
        ...['flameshot', 'spectacle', 'grim'].map((tool) => ({
          args: [tool, tool],
          env: { DISPLAY: ':0' },
          caption: tool,
        })),
      ];
      for (const { args, env, caption } of uploads) {
        const { stdout, stderr, exitCode } = await run(args, env);
        expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
        expect(await readFile(join(stack.folder, 'clipboard'), 'utf8')).toBe(stdout);
        expect(await captionAt(stdout)).toBe(caption);
      }

      expect(await run([])).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(/^Usage: echodrop-upload FILE/),
      });
      for (const tool of ['slurp', 'grim']) {
        await rm(join(bin, tool));
        expect(await run(['grim'])).toMatchObject({ exitCode: 1, stderr: `Install ${tool} first.` });
      }
      expect(await run(['missing.png'])).toMatchObject({
        exitCode: 1,
        stderr: 'Nothing to upload: missing.png is missing, empty or a folder, or took no screenshot.',
      });
      const refused = await run([path]);
      expect(refused).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/^Upload failed: This is not a supported photo or video/),
      });
    },
  );

  test('the script retries after a lost response, which leaves one record', withCurl, async () => {
    const { path } = await downloaded(/Download echodrop-upload/);
    let uploads = 0;
    await using proxy = await startCountingProxy(stack.gateway, () => {
      uploads += 1;
      return uploads === 1 ? 'lost' : 'passes';
    });
    await writeFile(path, (await readFile(path, 'utf8')).replace(stack.gateway, proxy.endpoint));
    await writeFile(join(stack.folder, 'lost.png'), photo);
    const records = (await stack.stored('records')).length;
    const { stdout } = await execa('sh', [path, 'lost.png', 'Lost'], { cwd: stack.folder });
    expect(await captionAt(stdout)).toBe('Lost');
    expect(uploads).toBe(2);
    expect((await stack.stored('records')).length).toBe(records + 1);
  });

  test('the script reports that the upload failed, and what to do', async () => {
    const { path } = await downloaded(/Download echodrop-upload/);
    const bin = join(stack.folder, 'broken');
    await mkdir(bin);
    const run = async (response: string) => {
      await program(bin, 'curl', `printf '%s' '${response}'; exit 52`);
      const env = { PATH: `${bin}:${process.env['PATH']}` };
      const { exitCode, stderr } = await execa('sh', [path, path], { env, reject: false });
      expect(exitCode).toBe(1);
      return stderr;
    };
    const refuse = (status: number, reason: string) =>
      run(`{"errors":[{"message":"The text.","reason":"${reason}"}]}\n ${status}`);
    expect(await run(' 000')).toMatch(/^Upload failed: no response from the server\.\nIt may have been published/);
    expect(await refuse(403, 'blocked')).toBe('Upload failed: The text.');
    expect(await refuse(401, 'provider_unavailable')).toBe('Upload failed: The text.');
    expect(await refuse(401, 'api_key_unknown')).toMatch(/^Upload failed: The text\.\nSet key in this file/);
    expect(await refuse(401, 'credentials_refused')).toMatch(/^Upload failed: The text\.\nSign in again /);
    for (const status of [409, 502])
      expect(await refuse(status, 'any')).toMatch(/^Upload failed: The text\.\nIt may have been published/);
    expect(await run('<html>Too large</html>\n 413')).toBe('Upload failed: the server responded with 413.');
    expect(await run('<html>Welcome</html>\n 200')).toMatch(/ has no link\.\nIt may have been published/);
    expect(await run('{"message":"\u001b[2J\u009b2J\\033[2J"} 400')).toBe('Upload failed: [2J2J\\033[2J');
  });

  test('escapes ShareX and shell syntax in addresses and keys', async () => {
    const access = {
      address: 'http://a.example',
      provider: `https://id.example/%y{b}|\\'"$c`,
      authorization: 'Bearer t',
      key: `k'"$d`,
    };
    const made = (module: string, name: string): Promise<string> =>
      tab.evaluate(`import('/mine/${module}.js').then((files) => files.${name}(${JSON.stringify(access)}, 'a'))`);
    const { Headers }: CustomUploader = JSON.parse(await made('app-files', 'shareXFile'));
    expect(parse(Headers['X-Auth-Service-Provider'] ?? '')).toBe(access.provider);
    const words = (await made('app-files', 'curlCommand')).replace('curl', "printf '%s\\n'");
    expect((await execa('sh', ['-c', words])).stdout.split('\n')).toEqual(
      expect.arrayContaining([`X-Auth-Service-Provider: ${access.provider}`, `key=${access.key}`]),
    );
    expect(await made('app-files', 'windowsCurlCommand')).toBeUndefined();
    const [settings = ''] = (await made('upload-script', 'uploadScript')).split('\nif ');
    const { stdout } = await execa('sh', ['-c', `${settings}\nprintf '%s\\n' "$provider" "$key"`]);
    expect(stdout.split('\n')).toEqual([access.provider, access.key]);
  });

  test("escapes quotes and backslashes in a token for curl's configuration", withCurl, async () => {
    const received: unknown[] = [];
    await using server = await startStandInServer([], ({ headers }) => {
      received.push(headers['x-verify-credentials-authorization'], headers['x-injected']);
      return { json: { url: 'https://a.example/b' } };
    });
    const authorization = String.raw`Bearer a"b\nX-Injected: c\\`;
    const access = { address: server.origin, provider: 'https://id.example/', authorization, key: 'k' };
    const script = await tab.evaluate(
      `import('/mine/upload-script.js').then((files) => files.uploadScript(${JSON.stringify(access)}))`,
    );
    const [path, picture] = ['odd-token', 'any.png'].map((name) => join(stack.folder, name)) as [string, string];
    await Promise.all([writeFile(path, String(script)), writeFile(picture, photo)]);
    await execa('sh', [path, picture]);
    expect(received).toEqual([authorization, undefined]);
  });

  test('the curl command uploads', withCurl, async () => {
    const command = (await tab.locator('#curl-text').textContent()) ?? '';
    await writeFile(join(stack.folder, 'photo.jpg'), photo);
    const { stdout } = await execa('sh', ['-c', `${command} --silent`], { cwd: stack.folder });
    expect(await captionAt(JSON.parse(stdout).url)).toBe('At the sea');
  });

  test('the Windows command uploads', withCurl, async () => {
    const command = (await tab.locator('#windows-curl-text').textContent()) ?? '';
    // Neither PowerShell nor the command prompt changes what is between these quotes.
    const words = [...command.matchAll(/"([\w .:/?=&@+~,;-]*)"|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? '',
    );
    expect(words.shift()).toBe('curl.exe');
    await writeFile(join(stack.folder, 'photo.jpg'), photo);
    const { stdout } = await execa('curl', [...words, '--silent'], { cwd: stack.folder });
    expect(await captionAt(JSON.parse(stdout).url)).toBe('At the sea');
  });

  test('with an expired token, the page offers a new sign-in instead of files', async () => {
    await using watched = await openSignedIn(browser(), stack, { path: '/mine/apps', token: 'expired' });
    await watched.tab.getByText('Your sign-in has expired.').waitFor();
    expect(await watched.tab.locator('#apps').isVisible()).toBe(false);
    await watched.tab.getByRole('button', { name: 'Sign in again' }).click();
    await watched.tab.getByRole('button', { name: 'Sign in with Sandbox' }).waitFor();
  });

  test('the request of the Shortcuts recipe is accepted', async () => {
    const pairs = async (list: string) => {
      const names = await tab.locator(`${list} dt`).allTextContents();
      const values = await tab
        .locator(`${list} dd`)
        .evaluateAll((all: { querySelector(of: string): { textContent: string } | null }[]) =>
          all.map((each) => each.querySelector('code')?.textContent),
        );
      return names.map((name, i) => [name, values[i] ?? ''] as [string, string]);
    };
    const form = new FormData();
    for (const [name, value] of await pairs('#shortcut-fields')) {
      if (name === 'media') form.append(name, new Blob([new Uint8Array(photo)]), 'IMG_1.png');
      else form.append(name, name === 'message' ? 'From a phone' : value);
    }
    const address = (await tab.locator('ol > li > [data-value=address]').textContent()) ?? '';
    const response = await fetch(address, { method: 'POST', headers: await pairs('#shortcut-headers'), body: form });
    expect(response.status).toBe(200);
    const { url } = (await response.json()) as { url: string };
    expect(await captionAt(url)).toBe('From a phone');
    expect(form.get('key')).toBe(sandbox.apiKey);
  });
});

/** Parses a value as ShareX does: escapes, and `{json:path}` of a response. */
function parse(text: string, response?: unknown): string {
  return text.replaceAll(/\\(.)|\{json:([^}]*)\}|[{}|%]/g, (_whole, escaped?: string, path?: string) => {
    if (escaped !== undefined) return escaped;
    if (path === undefined) throw new Error(`syntax of ShareX in ${text}`);
    const keys = path.split(/[.[\]]+/).filter(Boolean);
    return String(keys.reduce<unknown>((value, key) => Reflect.get(Object(value), key), response));
  });
}

async function program(folder: string, name: string, script: string): Promise<void> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}
