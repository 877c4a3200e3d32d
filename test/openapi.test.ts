import { once } from 'node:events';
import { get } from 'node:http';
import {
  type OpenApi,
  type ReceivedResponse,
  type Responses,
  undocumented,
} from '@echodrop/testkit/documented-responses';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { createTus, patchTus, sendTus } from '@echodrop/testkit/tus-requests';
import { upload } from '@echodrop/testkit/upload';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { provocations, readResponse, startProvokedStack } from './provoked-refusals.ts';
import { tusProvocations } from './provoked-tus-refusals.ts';

const uploads = ([2, 1] as const).flatMap((version) =>
  (['json', 'xml'] as const).map((format) => ({ version, format })),
);
const otherMethod: Responses = { 405: { $ref: '#/components/responses/Refused405' } };

let stack: Awaited<ReturnType<typeof startProvokedStack>>;
let photo: Buffer;
let document: OpenApi & { readonly paths: Record<string, Record<string, { readonly responses: Responses }>> };

beforeAll(async () => {
  photo = await samplePhoto('png', { width: 32, height: 32 });
  stack = await startProvokedStack({ BASE_PATHS: '/,/api/', SECURITY_CONTACT: 'mailto:security@media.example' });
  document = (await (await fetch(`${stack.gateway}/openapi.json`)).json()) as typeof document;
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

test('the document is valid OpenAPI 3.1, below every base path', async () => {
  for (const base of ['', '/api']) {
    const response = await fetch(`${stack.gateway}${base}/openapi.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const served = (await response.json()) as object;
    expect(served).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), servers: [{ url: base || '/' }] });
    expect(await new Validator().validate({ ...served })).toEqual({ valid: true });
  }
});

test.each(['/', '/api', '/api/'])(
  "who opens %s gets to the site's page for developers, and other methods are refused",
  async (path) => {
    const visit = (method: string) => fetch(`${stack.gateway}${path}`, { method, redirect: 'manual' });
    for (const method of ['GET', 'HEAD']) {
      const response = await visit(method);
      expect([response.status, response.headers.get('location')]).toEqual([302, `${stack.site}/documentation`]);
    }
    const { status, headers } = await visit('POST');
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  },
);

test('the gateway has what browsers and crawlers request by themselves', async () => {
  const get = (path: string) => fetch(`${stack.gateway}${path}`, { redirect: 'manual' });
  expect((await get('/favicon.ico')).headers.get('location')).toBe(`${stack.site}/favicon.svg`);
  expect(await (await get('/robots.txt')).text()).toBe('User-agent: *\nDisallow: /\n');
  const contact = await get('/.well-known/security.txt');
  expect(contact.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await contact.text()).toMatch(/^Contact: mailto:security@media\.example\nExpires: 20\d\d-/);
});

test.each([1, 2] as const)('version %i documents the optional alternative text', (version) => {
  expect(document.paths[`/${version}/upload.{format}`]?.['post']).toHaveProperty(
    'requestBody.content.multipart/form-data.schema',
    expect.objectContaining({
      required: expect.not.arrayContaining(['alt']),
      properties: expect.objectContaining({ alt: expect.objectContaining({ maxLength: 1500 }) }),
    }),
  );
});

test('the document is cacheable and read-only', async () => {
  const address = `${stack.gateway}/openapi.json`;
  const { headers } = await fetch(address);
  expect(headers.get('cache-control')).toMatch(/max-age=\d+/);
  // `fetch` would add `Cache-Control: no-cache`.
  const [again] = await once(get(address, { headers: { 'If-None-Match': `${headers.get('etag')}` } }), 'response');
  expect(again.resume().statusCode).toBe(304);
  const posted = await readResponse(fetch(address, { method: 'POST', body: 'hello' }));
  expect(posted.headers.get('allow')).toBe('GET, HEAD');
  expect(undocumented(document, otherMethod, posted)).toEqual([]);
});

test.each(uploads)('version $version returns a record in $format as documented', async (kind) => {
  const response = await upload(stack, { ...kind, media: photo });
  expect(response.status).toBe(200);
  expect(undocumented(document, responsesOf(kind.version), response)).toEqual([]);
});

test('a resumable upload has the documented responses', async () => {
  const path = await expectDocumented('/files/', 'post', 201, createTus(stack, photo.length));
  await expectDocumented('/files/{id}', 'patch', 204, patchTus(stack, path, 0, photo.subarray(0, 9)));
  await expectDocumented('/files/{id}', 'head', 200, sendTus(stack, 'HEAD', path));
  await expectDocumented('/files/{id}', 'patch', 204, patchTus(stack, path, 9, photo.subarray(9)));
  await expectDocumented('/files/{id}', 'get', 200, sendTus(stack, 'GET', path));
  const other = await expectDocumented('/files/', 'post', 201, createTus(stack, photo.length));
  const asked = await expectDocumented('/files/', 'post', 201, createTus(stack, photo.length));
  const Prefer = 'return=representation';
  await expectDocumented('/files/{id}', 'patch', 200, patchTus(stack, asked, 0, photo, { Prefer }));
  await expectDocumented('/files/{id}', 'delete', 204, sendTus(stack, 'DELETE', other));
});

describe.each(Object.entries(provocations))('%s', (reason, provoke) => {
  test('has the documented response in both versions and formats', async () => {
    const received = await Promise.all(
      uploads.map(async (kind) => ({ ...kind, response: await provoke({ stack, photo, ...kind }) })),
    );
    for (const { version, response } of received) {
      expect(response.text).toContain(reason);
      expect(response.text, 'a message without a value').not.toMatch(/\{\w+\}/);
      const responses = responsesTo(reason, version);
      expect(undocumented(document, responses, response)).toEqual([]);
    }
  });
});

test('every documented refusal is tested', () => {
  const documented = Object.values(document.components.responses).flatMap(({ content }) =>
    Object.keys(content?.['application/json']?.examples ?? {}),
  );
  // No request provokes an unexpected error.
  expect([...Object.keys(provocations), 'internal_error'].toSorted()).toEqual(documented.toSorted());
});

/** @returns the header `Location` */
async function expectDocumented(path: string, method: string, status: number, pending: Promise<ReceivedResponse>) {
  const response = await pending;
  expect(response.status).toBe(status);
  expect(undocumented(document, document.paths[path]?.[method]?.responses ?? {}, response)).toEqual([]);
  return `${response.headers.get('location')}`;
}

function responsesTo(reason: string, version: 1 | 2): Responses {
  if (reason === 'method_not_allowed') return otherMethod;
  return reason in tusProvocations ? (document.paths['/files/']?.['post']?.responses ?? {}) : responsesOf(version);
}

function responsesOf(version: 1 | 2): Responses {
  return document.paths[`/${version}/upload.{format}`]?.['post']?.responses ?? {};
}
