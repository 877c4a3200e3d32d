import { createReadStream, openAsBlob } from 'node:fs';
import { text } from 'node:stream/consumers';
import axios from 'axios';
import StreamedForm from 'form-data';
import got from 'got';
import fetchOfLibrary from 'node-fetch';
import superagent from 'superagent';
import type { ClientResponse, ClientUpload } from './client-upload.ts';

/** Uploads with HTTP clients of Node, by the name of each. */
export const nodeRequests: Readonly<Record<string, (upload: ClientUpload) => Promise<ClientResponse>>> = {
  async fetch(upload) {
    const headers = headersOf(upload);
    const response = await fetch(upload.address, { method: 'POST', headers, body: await formOf(upload) });
    return { status: response.status, text: await response.text() };
  },
  async axios(upload) {
    const { status, data } = await axios.post(upload.address, streamedFormOf(upload), {
      headers: headersOf(upload),
      responseType: 'text',
      validateStatus: null,
    });
    return { status, text: data };
  },
  async got(upload) {
    // Not its FormData, whose stream it closes twice after an early refusal on Node 24: an unhandled rejection.
    const form = new Response(await formOf(upload));
    const { statusCode, body } = await got.post(upload.address, {
      body: Buffer.from(await form.arrayBuffer()),
      headers: { ...headersOf(upload), 'Content-Type': `${form.headers.get('content-type')}` },
      retry: { limit: 0 },
      throwHttpErrors: false,
    });
    return { status: statusCode, text: body };
  },
  async 'node-fetch'(upload) {
    const headers = headersOf(upload);
    const response = await fetchOfLibrary(upload.address, { method: 'POST', headers, body: streamedFormOf(upload) });
    return { status: response.status, text: await response.text() };
  },
  async superagent({ address, key, message, file, ...upload }) {
    const request = superagent.post(address).set(headersOf(upload)).field({ key, message }).attach('media', file);
    const response = await request.ok(() => true);
    return { status: response.status, text: response.text };
  },
  async 'form-data'(upload) {
    const { hostname, port, pathname } = new URL(upload.address);
    const target = { hostname, port, path: pathname, headers: headersOf(upload) };
    const { promise, resolve, reject } = Promise.withResolvers<ClientResponse>();
    streamedFormOf(upload).submit(target, (error, response) => {
      if (error) reject(error);
      else text(response).then((body) => resolve({ status: response.statusCode ?? 0, text: body }), reject);
    });
    return promise;
  },
};

function headersOf({ provider, authorization }: Pick<ClientUpload, 'provider' | 'authorization'>) {
  return { 'X-Auth-Service-Provider': provider, 'X-Verify-Credentials-Authorization': authorization };
}

async function formOf({ key, message, file }: ClientUpload): Promise<FormData> {
  const form = new FormData();
  form.set('key', key);
  form.set('message', message);
  form.set('media', await openAsBlob(file), 'photo.jpg');
  return form;
}

function streamedFormOf({ key, message, file }: ClientUpload): StreamedForm {
  const form = new StreamedForm();
  form.append('key', key);
  form.append('message', message);
  form.append('media', createReadStream(file));
  return form;
}
