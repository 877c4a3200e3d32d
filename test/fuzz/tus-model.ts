import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anotherUser } from '@echodrop/testkit/another-user';
import type { Stack } from '@echodrop/testkit/start-stack';
import { patchAndCut, patchTus, sendTus } from '@echodrop/testkit/tus-requests';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect } from 'vitest';

type Response = Awaited<ReturnType<typeof sendTus>>;
type Headers = Readonly<Record<string, string>>;

/** Every response has a status of the client's faults, or of success, and a refusal says why. */
export function expectSound({ status, text }: Response): void {
  expect({ status, text }).toMatchObject({ status: expect.toSatisfy((code: number) => code < 500) });
  if (status < 400 || text === '') return;
  const [error] = JSON.parse(text).errors;
  expect(error).toMatchObject({ code: status, reason: expect.stringMatching(/^[a-z_]+$/) });
  expect(error.message).toMatch(/^[A-Z][\x20-\x7e]{10,300}\.$/);
}

/** One upload, and the bytes of it that responses have acknowledged. */
export class UploadModel {
  readonly #stack: Stack;
  readonly #media: Buffer;
  readonly path: string;
  acknowledged: Buffer;
  /** The address of the record, once a response named it. */
  record: string | undefined;
  hasEnded = false;

  constructor(stack: Stack, media: Buffer, created: Response, sent: number) {
    this.#stack = stack;
    this.#media = media;
    this.path = new URL(created.headers.get('location') ?? '', stack.gateway).pathname;
    this.acknowledged = media.subarray(0, sent);
    this.#note(created);
  }

  /** The next bytes. A writer's bytes differ from those of others after the header of the photo. */
  next(bytes: number, writer = 0): Buffer {
    const from = this.acknowledged.length;
    const piece = Buffer.from(this.#media.subarray(from, from + bytes));
    return writer > 0 && from > 4096 ? piece.fill(writer) : piece;
  }

  /** Sends pieces at the same time, with these headers. What is acknowledged continues the upload, and at most one is. */
  async patch(pieces: readonly Buffer[], headers: Headers = {}): Promise<void> {
    const offset = this.acknowledged.length;
    const send = (piece: Buffer) => patchTus(this.#stack, this.path, offset, new Uint8Array(piece), headers);
    const responses = await Promise.all(pieces.map(send));
    for (const [n, response] of responses.entries()) this.#take(response, offset, pieces[n] ?? Buffer.alloc(0));
    await this.expectOffset();
  }

  /** Sends a piece that the connection loses. The upload may continue with a part of it. */
  async cut(piece: Buffer): Promise<void> {
    await patchAndCut(this.#stack, this.path, this.acknowledged.length, piece);
    const received = await this.#offset();
    if (received === undefined) return;
    const taken = received - this.acknowledged.length;
    expect(taken).toSatisfy((bytes: number) => bytes >= 0 && bytes <= piece.length);
    this.acknowledged = Buffer.concat([this.acknowledged, piece.subarray(0, taken)]);
  }

  /** Another user finds nothing, and changes nothing. */
  async intrude(method: string): Promise<void> {
    const headers = {
      ...anotherUser(this.#stack),
      'Upload-Offset': '0',
      'Content-Type': 'application/offset+octet-stream',
    };
    const response = await sendTus(this.#stack, method, this.path, headers, method === 'PATCH' ? 'x' : undefined);
    expectSound(response);
    expect(response.status).toBe(404);
    await this.expectOffset();
  }

  /** The gateway has what it acknowledged. */
  async expectOffset(): Promise<void> {
    const offset = await this.#offset();
    if (offset !== undefined) expect(offset).toBe(this.acknowledged.length);
  }

  /** Sends the rest of an upload, which then has a record or was refused for good. `size` is its length if none is declared. */
  async finish(size: number): Promise<void> {
    const { status, headers } = await sendTus(this.#stack, 'HEAD', this.path);
    if (this.record || status !== 200) return;
    const declared = headers.get('upload-length');
    const length = Number(declared ?? Math.max(size, this.acknowledged.length));
    const piece = this.next(length - this.acknowledged.length);
    await this.patch([piece], declared === null ? { 'Upload-Length': `${length}` } : {});
    expect(this.record !== undefined || this.hasEnded).toBe(true);
  }

  /** Removes the upload, or finds the published bytes to be the acknowledged ones. */
  async end(): Promise<void> {
    const { status, text } = await sendTus(this.#stack, 'GET', this.path);
    if (status === 200) return this.#expectPublished(JSON.parse(text).id);
    expect(this.record).toBeUndefined();
    expectSound(await sendTus(this.#stack, 'DELETE', this.path));
    expect((await sendTus(this.#stack, 'HEAD', this.path)).status).toBe(404);
  }

  async #expectPublished(id: string): Promise<void> {
    const stored = join(this.#stack.folder, 'store/objects');
    const { media_key: key, size } = JSON.parse(await readFile(join(stored, `records/${id}.json`), 'utf8'));
    const media = await readFile(join(stored, 'media', key));
    expect(size).toBe(media.length);
    expect(media.equals(this.acknowledged)).toBe(true);
  }

  #take(response: Response, offset: number, piece: Buffer): void {
    expectSound(response);
    if (response.status === 415) this.hasEnded = true;
    // Without an offset, it is the response to another method that X-HTTP-Method-Override named.
    if (response.status !== 204 || !response.headers.has('upload-offset')) return;
    expect(this.acknowledged.length).toBe(offset);
    expect(Number(response.headers.get('upload-offset'))).toBe(offset + piece.length);
    this.acknowledged = Buffer.concat([this.acknowledged, piece]);
    this.#note(response);
  }

  #note({ headers }: Response): void {
    this.record = headers.get('record-location') ?? this.record;
  }

  /** Undefined once the upload has ended. */
  async #offset(): Promise<number | undefined> {
    let response: Response | undefined;
    await waitUntil('the end of another writer', async () => {
      response = await sendTus(this.#stack, 'HEAD', this.path);
      return response.status !== 423;
    });
    if (response?.status === 200) return Number(response.headers.get('upload-offset'));
    expect({ status: response?.status, hasEnded: this.hasEnded }).toEqual({ status: 404, hasEnded: true });
    return undefined;
  }
}
