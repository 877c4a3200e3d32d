import { createHash } from 'node:crypto';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import type { SeededRandom } from '@echodrop/testkit/seeded-random';

/** A JPEG, probed by the gateway; a PNG, probed by a worker; a JPEG stored in parts; a video. */
export type MediaKind = 'jpg' | 'png' | 'large' | 'mp4';

export interface Media {
  readonly kind: MediaKind;
  readonly bytes: Buffer;
  readonly sha256: string;
}

// Percentages.
const shares = { jpg: 58, png: 25, mp4: 14, large: 3 } as const satisfies Record<MediaKind, number>;
const paddingBytes = 30_000;
// More than one part (docs/decisions/upload-memory.md).
const largeBytes = 9 * 1024 * 1024;
const size = { width: 64, height: 48 };

/** Makes media with unique bytes, so that swapped bytes are detected. */
export class UniqueMedia {
  readonly #samples: Readonly<Record<MediaKind, Buffer>>;
  readonly #random: SeededRandom;

  private constructor(samples: Readonly<Record<MediaKind, Buffer>>, random: SeededRandom) {
    this.#samples = samples;
    this.#random = random;
  }

  static async prepare(random: SeededRandom): Promise<UniqueMedia> {
    const [jpg, png, mp4] = await Promise.all([
      samplePhoto('jpg', size),
      samplePhoto('png', size),
      sampleVideo('mp4', { ...size, sound: false }),
    ]);
    return new UniqueMedia({ jpg, png, mp4, large: jpg }, random);
  }

  make(kind = this.#anyKind()): Media {
    const mark = Buffer.from(this.#random.hex(64), 'hex');
    const length = kind === 'large' ? largeBytes : this.#random.between(mark.length, paddingBytes);
    const padding = Buffer.alloc(length, mark);
    const bytes = Buffer.concat([this.#samples[kind], kind === 'mp4' ? freeBox(padding) : padding]);
    return { kind, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
  }

  #anyKind(): MediaKind {
    let left = this.#random.next() * 100;
    for (const [kind, share] of Object.entries(shares) as [MediaKind, number][]) {
      left -= share;
      if (left < 0) return kind;
    }
    return 'jpg';
  }
}

// Players skip this box.
function freeBox(content: Buffer): Buffer {
  const head = Buffer.from('\0\0\0\0free', 'latin1');
  head.writeUInt32BE(head.length + content.length);
  return Buffer.concat([head, content]);
}
