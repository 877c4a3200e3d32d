// @ts-check

import { PieceSizes } from '/scripts/piece-sizes.js';
import { describeLostPiece, needsForm } from '/scripts/refused-uploads.js';
import { refusedBy } from '/scripts/service-response.js';
import { NoResponse, sendRequest } from './send-request.js';
import { findUnfinished, forgetUnfinished, keepUnfinished } from './unfinished-uploads.js';

/** @type {WeakMap<File, PieceSizes>} */
const sizesOf = new WeakMap();
/** Files whose pieces a proxy blocks. @type {WeakSet<File>} */
const blocked = new WeakSet();
// Proxies refuse longer headers, and a caption can have 64 KiB.
const maxMetadataLength = 6 * 1024;

/**
 * `address` is that of `/files/`, `fields` are the parameters of version 2, `fingerprint` is of `fingerprintOf`. `headers` makes those of one
 * request. `onOffset` gets the number of bytes that the server has.
 *
 * @typedef {{
 *   address: string,
 *   file: File,
 *   fields: Record<string, string>,
 *   fingerprint: string,
 *   idempotencyKey: string,
 *   headers: () => Record<string, string>,
 *   onOffset: (bytes: number) => void,
 * }} Upload
 */

/**
 * One attempt to upload a file in pieces (tus 1.0.0). It continues where the server stopped receiving, also after a reload of the page.
 *
 * @param {Upload} upload
 * @param {import('./send-request.js').Options} options
 * @returns {Promise<import('./send-request.js').Response | undefined>} undefined if only a form can carry the upload
 * @throws {import('./send-request.js').Cancelled | import('./send-request.js').NoResponse}
 */
export async function sendResumable(upload, options) {
  const { file, fingerprint, onOffset } = upload;
  if (blocked.has(file)) return undefined;
  const found = await find(upload, options);
  if (found && found.response.status !== 200) return found.response;
  const begun = found ?? (await create(upload, options));
  if (!begun?.id) return begun?.response;
  let { response } = begun;
  for (let offset = found ? Number(response.offset) : 0; offset < file.size; offset = Number(response.offset)) {
    onOffset(offset);
    response = await sendPiece(begun.id, offset, upload, options);
    if (blocked.has(file)) return void (await forgetUnfinished(fingerprint));
    if (!(response.status <= 299 && Number(response.offset) > offset)) return response;
  }
  if (!response.text) response = await send('GET', begun.id, upload, options);
  if (response.status === 200) await forgetUnfinished(fingerprint);
  return response;
}

/**
 * @param {Upload} upload
 * @param {import('./send-request.js').Options} options
 * @returns undefined if this browser began none, or the server does not have it
 */
async function find(upload, options) {
  const id = await findUnfinished(upload.fingerprint);
  if (!id) return undefined;
  const response = await send('HEAD', id, upload, options);
  if ([404, 410].includes(response.status)) return undefined;
  // A HEAD response has no body with a reason.
  const hasLostProof = [401, 403].includes(response.status);
  return { id, response: hasLostProof ? await send('GET', id, upload, options) : response };
}

/**
 * @param {Upload} upload
 * @param {import('./send-request.js').Options} options
 * @returns without an id if the server refused it, and undefined if only a form can carry the upload
 */
async function create(upload, options) {
  const { file, fields, fingerprint, idempotencyKey } = upload;
  const metadata = metadataOf({ ...fields, filename: file.name });
  if (metadata.length > maxMetadataLength) return undefined;
  const headers = {
    'Upload-Length': String(file.size),
    'Upload-Metadata': metadata,
    'Idempotency-Key': idempotencyKey,
  };
  const response = await send('POST', '', upload, options, headers);
  if (response.status >= 400 && needsForm(refusedBy(response))) return undefined;
  // Only the id: the address could belong to another server, which must not get the proof.
  const id = response.status === 201 ? /[\w-]+$/.exec(response.location ?? '')?.[0] : undefined;
  if (id) await keepUnfinished(fingerprint, id);
  return { id, response };
}

/**
 * @param {string} id
 * @param {number} offset
 * @param {Upload} upload
 * @param {import('./send-request.js').Options} options
 * @returns {Promise<import('./send-request.js').Response>}
 */
async function sendPiece(id, offset, upload, { signal, onProgress }) {
  const { file } = upload;
  const headers = {
    'Content-Type': 'application/offset+octet-stream',
    'Upload-Offset': String(offset),
    Prefer: 'return=representation',
  };
  const onPiece = (/** @type {number} */ sent) => onProgress(offset + sent, file.size);
  const sizes = sizesOf.get(file) ?? new PieceSizes();
  sizesOf.set(file, sizes);
  const piece = file.slice(offset, offset + sizes.next(offset, file.size));
  const response = await send('PATCH', id, upload, { signal, onProgress: onPiece }, headers, piece).catch((error) => {
    if (error instanceof NoResponse && sizes.mayExceedLimit) throw new NoResponse(describeLostPiece(piece.size));
    throw error;
  });
  if (response.status <= 299) sizes.pass();
  const effect = response.status >= 400 ? sizes.refuse(refusedBy(response)) : undefined;
  if (effect === 'smaller') return await sendPiece(id, offset, upload, { signal, onProgress });
  if (effect === 'blocked') blocked.add(file);
  return { ...response, sentBytes: piece.size };
}

/**
 * @param {string} method
 * @param {string} id
 * @param {Upload} upload
 * @param {import('./send-request.js').Options} options
 * @param {Record<string, string>} [more] headers
 * @param {Blob} [body]
 */
function send(method, id, { address, headers }, options, more, body) {
  return sendRequest(
    address + id,
    { method, headers: { ...headers(), 'Tus-Resumable': '1.0.0', ...more }, body },
    options,
  );
}

/**
 * The value of `Upload-Metadata` (tus 1.0.0, "Creation").
 *
 * @param {Record<string, string>} fields
 */
function metadataOf(fields) {
  const encode = (/** @type {string} */ text) =>
    btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
  return Object.entries(fields)
    .map(([name, text]) => `${name} ${encode(text)}`.trim())
    .join(',');
}
