import { recordToJson, recordToXml } from '@echodrop/record';
import { expect, test, vi } from 'vitest';
import type { UploadOptions } from '../node.ts';
import { clientOf, lose, refuse, respond, someRecord, useFakeService } from '../service.fixture.ts';
import { heldStallMs, holdStalls } from '../stalls.fixture.ts';

const MiB = 2 ** 20;
const media = new Blob([new Uint8Array(2 * MiB)]);
const published = respond(200, recordToJson(someRecord));
const created = respond(201, '', { Location: '/files/first' });
const metadata = 'key a2V5,message,filename bWVkaWE=';
const offset = (bytes: number, more = {}) =>
  respond(200, '', {
    'Upload-Offset': String(bytes),
    'Upload-Length': String(media.size),
    'Upload-Metadata': metadata,
    ...more,
  });
const last = (size = media.size) => respond(200, recordToJson(someRecord), { 'Upload-Offset': String(size) });
const service = await useFakeService();

function upload(options: UploadOptions = {}, source = media, more = {}) {
  return clientOf(service, { retries: 3, ...more }).upload(source, options);
}
const requests = () => service.received.map(({ method, path }) => `${method} ${path}`);

test('after a lost connection, an upload continues in pieces, with the same key and texts', async () => {
  service.responses = [lose, created, lose, offset(MiB), last()];
  const ids: string[] = [];
  const sent: number[] = [];
  const options = { onResumable: (id: string) => void ids.push(id) };
  expect(await upload({ ...options, onProgress: (bytes) => void sent.push(bytes) })).toEqual(someRecord);
  const pieces = ['PATCH /files/first', 'HEAD /files/first', 'PATCH /files/first'];
  expect(requests()).toEqual(['POST /2/upload.json', 'POST /files/', ...pieces]);
  expect(ids).toEqual(['first']);
  const [form, creation, , , piece] = service.received;
  expect(creation?.headers['idempotency-key']).toBe(form?.headers['idempotency-key']);
  expect(creation?.headers['upload-metadata']).toBe(metadata);
  expect(piece?.headers).toMatchObject({ 'upload-offset': String(MiB), 'content-length': String(MiB) });
  expect(sent.at(-1)).toBe(2 * MiB);
});

test('large media is sent in pieces at once', async () => {
  const size = 65 * MiB;
  service.responses = [created, offset(64 * MiB), last(size)];
  await upload({}, new Blob([new Uint8Array(size)]));
  expect(service.received.map(({ headers }) => headers['content-length'])).toEqual(['0', `${64 * MiB}`, `${MiB}`]);
});

test('a creation that gets no response is sent again', async () => {
  service.responses = [lose, holdStalls(), created, last()];
  expect(await upload({}, media, { stallMs: heldStallMs })).toEqual(someRecord);
  expect(requests()).toEqual(['POST /2/upload.json', 'POST /files/', 'POST /files/', 'PATCH /files/first']);
});

test('a lost last response is found with GET', async () => {
  service.responses = [lose, created, lose, offset(media.size), published];
  expect(await upload()).toEqual(someRecord);
  expect(requests().slice(-2)).toEqual(['HEAD /files/first', 'GET /files/first']);
});

test('attempts that advance do not count as retries', async () => {
  const pieces = Array.from({ length: 8 }, (_, i) => [lose, offset(((i + 1) * MiB) / 8)]).flat();
  service.responses = [lose, created, ...pieces, last()];
  expect(await upload()).toEqual(someRecord);
});

test('attempts that do not advance count', async () => {
  service.responses = [lose, created, lose, offset(0), lose, offset(0), lose, published];
  await expect(upload()).rejects.toMatchObject({ name: 'ServiceUnreachable', mayBePublished: true });
});

test('`resumeId` continues an upload of an earlier process; one that expired begins again', async () => {
  service.responses = [offset(MiB), last()];
  await upload({ resumeId: 'earlier' });
  expect(requests()).toEqual(['HEAD /files/earlier', 'PATCH /files/earlier']);
  service.received.length = 0;
  service.responses = [respond(410), created, last()];
  await upload({ resumeId: 'earlier' });
  expect(requests()).toEqual(['HEAD /files/earlier', 'POST /files/', 'PATCH /files/first']);
});

test.each([
  ['another size', { 'Upload-Length': '1' }],
  ['other texts', { 'Upload-Metadata': 'key a2V5,message b3RoZXI=,filename bWVkaWE=' }],
])('`resumeId` of an upload with %s begins again', async (_, more) => {
  service.responses = [offset(MiB, more), created, last()];
  await upload({ resumeId: 'earlier' });
  expect(requests()).toEqual(['HEAD /files/earlier', 'POST /files/', 'PATCH /files/first']);
});

test('texts are sent in UTF-8', async () => {
  service.responses = [lose, created, last()];
  await upload({ message: 'größe' });
  expect(service.received[1]?.headers['upload-metadata']).toContain('message Z3LDtsOfZQ==');
});

test.each([
  ['advanced', refuse(409, 'offset_conflict'), [offset(MiB)]],
  ['expired', refuse(410, 'upload_expired'), [respond(410), created]],
])('an upload that has %s since its offset was found continues', async (_, refusal, found) => {
  service.responses = [lose, created, refusal, ...found, last()];
  expect(await upload()).toEqual(someRecord);
});

test.each([
  ['a service without resumable uploads', [respond(404)]],
  ['a proxy that blocks PATCH', [created, respond(405, '<h1>Not Allowed</h1>')]],
  ['a proxy that forbids PATCH', [created, ...Array(2).fill(respond(403, '<h1>Forbidden</h1>'))]],
  ['a proxy that forbids the headers of a creation', [respond(400, '<h1>Bad Request</h1>')]],
])('%s gets a form', async (_, responses) => {
  service.responses = [lose, ...responses, published];
  expect(await upload()).toEqual(someRecord);
  expect(requests().slice(1, 2)).toEqual(['POST /files/']);
  expect(requests().at(-1)).toBe('POST /2/upload.json');
});

test('pieces are smaller after a piece that was refused for its size, or lost as a whole', async () => {
  const size = 40 * MiB;
  const tooLarge = respond(413, '<h1>Request Entity Too Large</h1>');
  const found = (bytes: number) => offset(bytes, { 'Upload-Length': String(size) });
  const whole = [lose, found(10 * MiB)];
  const part = [lose, found(12 * MiB)];
  service.responses = [created, tooLarge, found(10 * MiB), ...whole, ...part, found(14.5 * MiB), last(size)];
  await upload({}, new Blob([new Uint8Array(size)]));
  const pieces = service.received.filter(({ method }) => method === 'PATCH');
  const sizes = [40, 10, 10, 2.5, 2.5, 2.5].map((mebibytes) => String(mebibytes * MiB));
  expect(pieces.map(({ headers }) => headers['content-length'])).toEqual(sizes);
});

const page = (status: number) => respond(status, '<h1>Refused</h1>', { 'Content-Type': 'text/html; charset=utf-8' });
const small = new Blob([new Uint8Array(1000)]);

test.each([400, 403, 413])(
  'a form that a proxy refuses with %i goes in pieces at once, with the same key',
  async (status) => {
    const onRetry = vi.fn();
    service.responses = [page(status), created, last(small.size)];
    expect(await upload({ onRetry }, small)).toEqual(someRecord);
    expect(requests()).toEqual(['POST /2/upload.json', 'POST /files/', 'PATCH /files/first']);
    expect(onRetry).not.toHaveBeenCalled();
    const [form, creation] = service.received;
    expect(creation?.headers['idempotency-key']).toBe(form?.headers['idempotency-key']);
  },
);

test.each([408, 500, 502, 504, 507, 520])(
  'a form that a proxy refuses with %i goes in pieces after a pause',
  async (status) => {
    const onRetry = vi.fn();
    service.responses = [page(status), created, last()];
    expect(await upload({ onRetry })).toEqual(someRecord);
    expect(onRetry).toHaveBeenCalledOnce();
  },
);

test.each([
  ['the service', refuse(413, 'media_too_large')],
  ['a proxy that wants a login', page(401)],
  ['a captive portal', page(200)],
])('a form that %s refuses does not go in pieces', async (_, response) => {
  service.responses = [response];
  await expect(upload()).rejects.toThrow();
  expect(requests()).toEqual(['POST /2/upload.json']);
});

test('if a proxy refuses the smallest piece too, the error says where to read about limits', async () => {
  service.responses = [page(413), created, page(413), page(413)];
  const failed = upload();
  await expect(failed).rejects.toMatchObject({ status: 413, reason: 'unknown', mayBePublished: false });
  await expect(failed).rejects.toThrow(
    'A proxy limits the size of requests, and refused one (status 413, text/html). ' +
      'Ask its operator to raise the limit to 65 MiB or more: docs/host/tls.md#body-limits.',
  );
  expect(service.received.slice(2).map(({ headers }) => headers['content-length'])).toEqual([`${2 * MiB}`, `${MiB}`]);
});

test('if a firewall refuses everything, the form is sent once, and the error names no cause', async () => {
  service.responses = [page(403)];
  await expect(upload()).rejects.toThrow(
    'Something other than the upload service responded (status 403, text/html). A proxy or firewall may be the cause: ask its operator.',
  );
  expect(requests()).toEqual(['POST /2/upload.json', 'POST /files/']);
});

test('an upload that may be published as a form stays in doubt when a proxy refuses its pieces', async () => {
  service.responses = [lose, page(403), page(403)];
  await expect(upload()).rejects.toMatchObject({ status: 403, mayBePublished: true });
});

test('the proof goes to the service only, whatever address its response names', async () => {
  service.responses = [lose, respond(201, '', { Location: 'http://127.0.0.1:1/other/files/first' }), last()];
  await upload();
  expect(requests().at(-1)).toBe('PATCH /files/first');
});

test('a refusal of HEAD has its reason', async () => {
  service.responses = [respond(401), refuse(401, 'credentials_refused')];
  await expect(upload({ resumeId: 'earlier' })).rejects.toMatchObject({ reason: 'credentials_refused' });
});

test.each([
  ['no offset', respond(204)],
  ['the same offset', offset(0)],
  ['no number', respond(204, '', { 'Upload-Offset': '1e9' })],
])('a response with %s ends the upload', async (_, response) => {
  service.responses = [lose, created, response];
  await expect(upload()).rejects.toThrow(/^(No offset|The offset) of the upload/);
});

test.each<[string, UploadOptions, Blob?]>([
  ['small media', {}, new Blob([new Uint8Array(MiB / 2)])],
  ['a response in XML', { format: 'xml' }],
  ['a caption that is too long for a header', { message: 'a'.repeat(6000) }],
])('with %s, a form is sent again', async (_, options, source) => {
  service.responses = [
    lose,
    respond(200, options.format === 'xml' ? recordToXml(someRecord) : recordToJson(someRecord)),
  ];
  await upload(options, source);
  expect(new Set(requests()).size).toBe(1);
});
