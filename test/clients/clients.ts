import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBrowser } from '@echodrop/testkit/find-browser';
import { execa } from 'execa';
import { chromium } from 'playwright-core';

/** An upload of version 2 for a client to send. */
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

/** Makes uploads, each by a process of its own. */
type Client = (upload: ClientUpload) => Promise<ClientResponse>;

const runMs = 40_000;

/** Programs that other people wrote, and how each is found on this machine: undefined where it is not there. */
export const clients: Readonly<Record<string, () => Promise<Client | undefined>>> = {
  async curl() {
    return (await runs('curl', '--version')) ? withCurl : undefined;
  },
  async "Python's requests"() {
    const found = await runs('python3', '-c', 'import requests');
    return found ? (upload) => printed('python3', [program('upload.py'), ...words(upload)]) : undefined;
  },
  async "Java's HttpClient"() {
    // It is compiled for every run, and runs for a moment only.
    const java = ['-XX:TieredStopAtLevel=1', '-Xshare:auto', program('Upload.java')];
    return (await runs('javac', '-version')) ? (upload) => printed('java', [...java, ...words(upload)]) : undefined;
  },
  async "a browser's fetch"() {
    const browser = await findBrowser();
    return browser === undefined ? undefined : (upload) => withBrowser(browser, upload);
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
    { timeout: runMs },
  );
  const [, text = '', status] = /^([\s\S]*)\n(\d+)$/.exec(stdout) ?? [];
  return { status: Number(status), text };
}

async function withBrowser(executablePath: string, upload: ClientUpload): Promise<ClientResponse> {
  await using browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: runMs });
  const page = await browser.newPage();
  // A page of the gateway's own origin: uploads from other pages are another matter.
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

// A program of ours prints the status on a line of its own, then the body.
async function printed(command: string, args: readonly string[]): Promise<ClientResponse> {
  const { stdout } = await execa(command, args, { timeout: runMs });
  const end = stdout.indexOf('\n');
  return { status: Number(stdout.slice(0, end)), text: stdout.slice(end + 1) };
}

function words({ address, provider, authorization, key, message, file }: ClientUpload): string[] {
  return [address, provider, authorization, key, message, file];
}

function program(name: string): string {
  return join(import.meta.dirname, name);
}

async function runs(command: string, ...args: readonly string[]): Promise<boolean> {
  return !(await execa(command, args, { reject: false })).failed;
}
