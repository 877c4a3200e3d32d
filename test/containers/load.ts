import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { ComposeSystem } from './compose-system.ts';

/** An upload that was acknowledged with a record. */
export interface Acknowledged {
  readonly id: string;
  readonly message: string;
  readonly sha256: string;
}

// One loop each. Different pauses, so that some upload is always running.
const pausesMs = [300, 1100, 700, 1900];
const slow = { pieces: 6, everyMs: 500 };
// Those in pieces take three seconds. Services repeat what a failover interrupts for up to 15.
const maxUploadMs = 20_000;

/** Uploads continuously until disposed, in both versions and formats: JPEGs slowly, and PNGs, which a worker probes. */
export class Load implements AsyncDisposable {
  readonly acknowledged: Acknowledged[] = [];
  /** Status and reason of each; status 0 is a failed connection. */
  readonly failures: string[] = [];
  /** All uploads that ended, with times as `performance.now()`. */
  readonly #ended: { readonly begun: number; readonly ms: number; readonly isFailed: boolean }[] = [];
  readonly #system: Pick<ComposeSystem, 'gateway' | 'provider'>;
  readonly #over = new AbortController();
  readonly #running: Promise<void>[];

  private constructor(system: Pick<ComposeSystem, 'gateway' | 'provider'>, jpg: Buffer, png: Buffer) {
    this.#system = system;
    this.#running = pausesMs.map((pauseMs, n) => this.#loop(n, pauseMs, n % 2 === 0 ? jpg : png));
  }

  static async start(system: Pick<ComposeSystem, 'gateway' | 'provider'>): Promise<Load> {
    const size = { width: 64, height: 48 };
    return new Load(system, await samplePhoto('jpg', size), await samplePhoto('png', size));
  }

  /** Waits until as many uploads as loops have succeeded. */
  async waitForProgress(): Promise<void> {
    const before = this.acknowledged.length;
    await waitUntil('acknowledged uploads', async () => this.acknowledged.length >= before + pausesMs.length);
  }

  /**
   * Milliseconds from `since` to the begin of the first upload from which on none failed or took long. An upload that hangs counts as an
   * interruption even if it succeeds in the end.
   */
  recoveryMs(since: number): number {
    const bad = this.#ended.filter(({ ms, isFailed }) => isFailed || ms > maxUploadMs).map(({ begun }) => begun);
    const lastBad = Math.max(since, ...bad);
    return Math.min(...this.#ended.map(({ begun }) => begun).filter((begun) => begun > lastBad)) - since;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#running);
  }

  async #loop(n: number, pauseMs: number, photo: Buffer): Promise<void> {
    for (let turn = n; !this.#over.signal.aborted; turn += 1) {
      await this.#upload(turn, photo, n % 2 === 0);
      await sleep(pauseMs);
    }
  }

  async #upload(turn: number, photo: Buffer, isSlow: boolean): Promise<void> {
    const message = `upload ${turn} ${randomBytes(8).toString('hex')}`;
    const media = Buffer.concat([photo, randomBytes(50_000)]);
    const begun = performance.now();
    const end = (failure?: string) => {
      if (failure !== undefined) this.failures.push(failure);
      this.#ended.push({ begun, ms: performance.now() - begun, isFailed: failure !== undefined });
    };
    const kind = { version: turn % 2 ? 1 : 2, format: turn % 4 < 2 ? 'json' : 'xml' } as const;
    const { path, headers, body } = uploadRequest(this.#system, { ...kind, media, message });
    try {
      const response = await fetch(`${this.#system.gateway}${path}`, {
        method: 'POST',
        // Half of the uploads have a key, in both versions and formats.
        headers: turn % 8 < 4 ? { ...headers, 'Idempotency-Key': message.replaceAll(' ', '-') } : headers,
        body: isSlow ? inPieces(body) : body,
        duplex: 'half',
        signal: AbortSignal.timeout(60_000),
      });
      const text = await response.text();
      const id = /"id":"(\w+)"|<image><id>(\w+)</.exec(text)?.slice(1).find(Boolean);
      if (response.status === 200 && id) {
        this.acknowledged.push({ id, message, sha256: sha256(media) });
        end();
      } else end(`${response.status} ${/"reason":"(\w+)"|<reason>(\w+)/.exec(text)?.slice(1).find(Boolean)}`);
    } catch (error) {
      end(`0 ${codeOf(error)}`);
    }
  }
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function* inPieces(body: Buffer): AsyncGenerator<Buffer> {
  const size = Math.ceil(body.length / slow.pieces);
  for (let at = 0; at < body.length; at += size) {
    yield body.subarray(at, at + size);
    await sleep(slow.everyMs);
  }
}

function codeOf(error: unknown): string {
  const { cause, name } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? name;
}
