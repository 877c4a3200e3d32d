import { findBrowser } from '@echodrop/testkit/browser/find-browser';
import { patienceMs } from '@echodrop/testkit/patience';
import type { Tool } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { withBrowser } from './browser-client.ts';
import type { ClientResponse, ClientUpload } from './client-upload.ts';
import { nodeRequests } from './node-clients.ts';
import { canImport, canRun, canRunJava, runJava, runPython } from './run-program.ts';

/** Makes the named requests, one after another. */
type Client = (upload: ClientUpload, requests: readonly string[]) => Promise<Record<string, ClientResponse>>;

interface FormClient {
  readonly needs?: Tool;
  /** Returns undefined if what it needs is missing. */
  find(): Promise<Client | undefined>;
  readonly requests: readonly string[];
  /** Requests that get a 400, and its message. */
  readonly refused?: Readonly<Record<string, RegExp>>;
}

// These libraries give a text field a media type, which makes it a file.
const jsonField = /^Parameter \w+ was sent as a file \(Content-Type application\/json/;
const binaryField = /^Parameter \w+ was sent as a file \(Content-Type application\/octet-stream/;

/** Third-party programs and libraries that upload with a form. */
export const clients: Readonly<Record<string, FormClient>> = {
  curl: {
    needs: 'curl',
    find: async () => ((await canRun('curl', '--version')) ? withCurl : undefined),
    requests: ['curl'],
  },
  'libraries of Node': {
    find: async () => withNode,
    requests: Object.keys(nodeRequests),
  },
  'libraries of Python': {
    needs: "Python's HTTP clients",
    find: async () => ((await hasPythonClients()) ? withPython : undefined),
    requests: [
      ...['requests', 'requests, fields without file names', 'requests-toolbelt', 'httpx'],
      ...['aiohttp', 'aiohttp, unquoted names', 'aiohttp, chunked'],
    ],
    refused: {
      'requests, JSON field': jsonField,
      'requests, binary field': binaryField,
      'aiohttp, bytes as text': binaryField,
    },
  },
  'libraries of Java': {
    needs: 'Java libraries',
    find: async () => ((await canRunJava()) ? withJava : undefined),
    requests: ['JDK HttpClient', 'OkHttp', 'Retrofit'],
    refused: {
      'Retrofit with Gson, String parts': jsonField,
      // OkHttp's default.
      'OkHttp, multipart/mixed': /^Content-Type must be multipart\/form-data, but is multipart\/mixed\.$/,
    },
  },
  'a browser': {
    needs: 'Chromium',
    async find() {
      const browser = await findBrowser();
      return browser === undefined ? undefined : (upload, requests) => withBrowser(browser, upload, requests);
    },
    requests: ['fetch', 'Dropzone'],
  },
};

export function hasPythonClients(): Promise<boolean> {
  return canImport('aiohttp', 'h2', 'httpx', 'requests', 'requests_toolbelt');
}

export async function withPython(upload: ClientUpload, requests: readonly string[]) {
  return responsesOf(await runPython('forms.py', upload, ...requests));
}

async function withCurl({ address, provider, authorization, key, message, file }: ClientUpload) {
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
  return { curl: { status: Number(status), text } };
}

async function withJava(upload: ClientUpload, requests: readonly string[]) {
  return responsesOf(await runJava('Forms.java', upload, ...requests));
}

async function withNode(upload: ClientUpload, requests: readonly string[]) {
  const responses: Record<string, ClientResponse> = {};
  for (const name of requests) Object.assign(responses, { [name]: await nodeRequests[name]?.(upload) });
  return responses;
}

/** Of a program that prints each response as a line of JSON. */
function responsesOf(output: string): Record<string, ClientResponse> {
  const lines = output.split('\n').filter(Boolean);
  const responses = lines.map((line) => JSON.parse(line) as ClientResponse & { request: string });
  return Object.fromEntries(responses.map(({ request, status, text }) => [request, { status, text }]));
}
