import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBrowser } from '@echodrop/testkit/browser/find-browser';
import { launchBrowser } from '@echodrop/testkit/browser/launch-browser';
import { patienceMs } from '@echodrop/testkit/patience';
import type { Tool } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';

/** An upload of version 2, or a resumable one. */
export interface ClientUpload {
  readonly address: string;
  readonly provider: string;
  readonly authorization: string;
  readonly key: string;
  readonly message: string;
  /** The path of the media. */
  readonly file: string;
}

export interface ClientResponse {
  readonly status: number;
  readonly text: string;
}

/** Uploads in a separate process. */
type Client = (upload: ClientUpload) => Promise<ClientResponse>;

/** Third-party clients, and what each needs; `find` returns undefined if that is missing. */
export const clients: Readonly<Record<string, { needs: Tool; find(): Promise<Client | undefined> }>> = {
  curl: {
    needs: 'curl',
    find: async () => ((await canRun('curl', '--version')) ? withCurl : undefined),
  },
  "Python's requests": {
    needs: "Python's requests",
    async find() {
      const found = await canRun('python3', '-c', 'import requests');
      return found ? (upload) => run('python3', [program('upload.py'), ...argsOf(upload)]) : undefined;
    },
  },
  "Java's HttpClient": {
    needs: 'a JDK',
    async find() {
      // Compiled for every run, so JIT optimization does not pay off.
      const java = ['-XX:TieredStopAtLevel=1', '-Xshare:auto', program('Upload.java')];
      return (await canRun('javac', '-version')) ? (upload) => run('java', [...java, ...argsOf(upload)]) : undefined;
    },
  },
  "a browser's fetch": {
    needs: 'Chromium',
    async find() {
      const browser = await findBrowser();
      return browser === undefined ? undefined : (upload) => withBrowser(browser, upload);
    },
  },
};

async function withCurl({
  address,
  provider,
  authorization,
  key,
  message,
  file,
}: ClientUpload): Promise<ClientResponse> {
  const headers = [`X-Auth-Service-Provider: ${provider}`, `X-Verify-Credentials-Authorization: ${authorization}`];
  const fields = [`key=${key}`, `message=${message}`, `media=@${file}`];
  const { stdout } = await execa(
    'curl',
    [
      ['--silent', '--show-error', '--write-out', '\n%{http_code}'],
      headers.flatMap((header) => ['--header', header]),
      fields.flatMap((field) => ['--form', field]),
      address,
    ].flat(),
    { timeout: patienceMs },
  );
  const [, text = '', status] = /^([\s\S]*)\n(\d+)$/.exec(stdout) ?? [];
  return { status: Number(status), text };
}

async function withBrowser(path: string, upload: ClientUpload): Promise<ClientResponse> {
  await using browser = await launchBrowser(path);
  const page = await browser.newPage();
  page.setDefaultTimeout(patienceMs);
  // Same origin as the gateway; CORS has other tests.
  await page.goto(new URL('/openapi.json', upload.address).href);
  await page.setContent(await readFile(program('upload.html'), 'utf8'));
  await page.fill('[name=key]', upload.key);
  await page.fill('[name=message]', upload.message);
  await page.setInputFiles('[name=media]', upload.file);
  const headers = {
    'X-Auth-Service-Provider': upload.provider,
    'X-Verify-Credentials-Authorization': upload.authorization,
  };
  return await page.evaluate(`upload(${JSON.stringify(upload.address)}, ${JSON.stringify(headers)})`);
}

// Our programs print the status on one line, then the body.
async function run(command: string, args: readonly string[]): Promise<ClientResponse> {
  // Java reads arguments in the encoding of the locale.
  const { stdout } = await execa(command, args, { timeout: patienceMs, env: { LC_ALL: 'C.UTF-8' } });
  const end = stdout.indexOf('\n');
  return { status: Number(stdout.slice(0, end)), text: stdout.slice(end + 1) };
}

function argsOf({ address, provider, authorization, key, message, file }: ClientUpload): string[] {
  return [address, provider, authorization, key, message, file];
}

function program(name: string): string {
  return join(import.meta.dirname, name);
}

export async function canRun(command: string, ...args: readonly string[]): Promise<boolean> {
  return !(await execa(command, args, { reject: false })).failed;
}
