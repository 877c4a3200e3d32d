import { crc32 } from 'node:zlib';

/** A whole object, or a part of one. Its first `maxKeptBytes` are kept for readers. */
export class Written {
  readonly kept: Buffer[] = [];
  size = 0;
  crc = 0;
  readonly #maxKeptBytes: number;

  constructor(maxKeptBytes: number) {
    this.#maxKeptBytes = maxKeptBytes;
  }

  add(chunk: Buffer): void {
    if (this.size < this.#maxKeptBytes) this.kept.push(chunk);
    this.size += chunk.length;
    this.crc = crc32(chunk, this.crc);
  }

  /** As S3 spells the checksum. */
  get checksum(): string {
    return Buffer.from(this.crc.toString(16).padStart(8, '0'), 'hex').toString('base64');
  }

  get etag(): string {
    return `${this.size.toString(16)}-${this.crc.toString(16)}`;
  }
}

/** What the null store returns of an object. */
export interface StoredObject {
  readonly key: string;
  readonly parts: readonly { readonly size: number; readonly crc: number }[];
  /** The bytes of a small object. */
  readonly text?: string;
}

const textBytes = 4096;

/** The objects and unfinished uploads of one bucket, and which calls were made. */
export class Bucket {
  calls: Record<string, number> = {};
  readonly objects = new Map<string, Written[]>();
  readonly uploads = new Map<string, Map<number, Written>>();

  count(call: string): void {
    this.calls[call] = (this.calls[call] ?? 0) + 1;
  }

  /** Makes one object of the parts with these numbers. @returns undefined if one is missing or has another tag */
  complete(key: string, uploadId: string, listed: readonly { number: number; etag: string }[]): Written[] | undefined {
    const parts = this.uploads.get(uploadId);
    const found = listed.flatMap(({ number, etag }) => {
      const part = parts?.get(number);
      return part?.etag === etag ? [part] : [];
    });
    if (found.length === 0 || found.length !== listed.length) return undefined;
    this.uploads.delete(uploadId);
    this.objects.set(key, found);
    return found;
  }

  /** Bytes of an object; undefined if they were not kept. */
  read(parts: readonly Written[], from: number, to: number): Buffer | undefined {
    const [first] = parts;
    if (first === undefined || to > first.size) return undefined;
    const kept = Buffer.concat(first.kept);
    return to <= kept.length ? kept.subarray(from, to) : undefined;
  }

  /** Returns its objects and the requests since the last call, and forgets both. */
  take(): { calls: Record<string, number>; objects: StoredObject[]; unfinished: number } {
    const objects = [...this.objects].map(([key, parts]) => ({
      key,
      parts: parts.map(({ size, crc }) => ({ size, crc })),
      ...(sizeOf(parts) <= textBytes && { text: Buffer.concat(parts.flatMap(({ kept }) => kept)).toString() }),
    }));
    const taken = { calls: this.calls, objects, unfinished: this.uploads.size };
    this.calls = {};
    this.objects.clear();
    this.uploads.clear();
    return taken;
  }
}

/** The tag of a whole object. */
export function etagOf(parts: readonly Written[]): string {
  return parts.length === 1 ? `${parts[0]?.etag}` : `${sizeOf(parts).toString(16)}-${parts.length}`;
}

export function sizeOf(parts: readonly { size: number }[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}
