import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** The targets of references in hostile media, which must never be accessed. */
export interface Canary {
  /** The path of a video that media must not read. */
  readonly file: string;
  /** An http address, without a trailing slash. */
  readonly address: string;
}

/** Media that an attacker may send: its bytes, then `zeros` zeros. */
export interface HostileMedia {
  readonly name: string;
  /** The reason of its refusal, or `type width x height` if the header looks valid. */
  readonly found: string;
  readonly make: (canary: Canary) => Buffer | Promise<Buffer>;
  readonly zeros: number;
}

/** Hostile media; the parameters are the fields of HostileMedia. */
export function hostile(name: string, found: string, make: HostileMedia['make'], zeros = 0): HostileMedia {
  return { name, found, make, zeros };
}

/** Writes media to numbered files in a folder. */
export async function writeHostile(folder: string, media: readonly HostileMedia[], canary: Canary): Promise<void> {
  for (const [n, { make, zeros }] of media.entries()) {
    await using file = await open(join(folder, String(n)), 'w');
    const bytes = await make(canary);
    await file.write(bytes);
    await file.truncate(bytes.length + zeros);
  }
}
