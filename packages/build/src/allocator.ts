import { spawnSync } from 'node:child_process';

/** The Debian package of the allocator of images. */
export const allocatorPackage = 'libjemalloc2';

/** The environment in which programs use the allocator of images (deploy/Dockerfile, docs/decisions/upload-cost.md). */
export const allocatorSettings = {
  LD_PRELOAD: 'libjemalloc.so.2',
  // Without a thread of its own, jemalloc returns memory only while the program allocates: not in a quiet night.
  MALLOC_CONF: 'background_thread:true',
} as const;

/**
 * `allocatorSettings`, or nothing if this system lacks the library: programs then run with the system's allocator, which keeps more memory.
 */
export function availableAllocator(): Partial<typeof allocatorSettings> {
  // The dynamic linker of glibc prints an error and continues without the library; the one of musl ends the program.
  const { status, stderr } = spawnSync('/bin/true', { env: allocatorSettings, encoding: 'utf8' });
  return status === 0 && stderr === '' ? allocatorSettings : {};
}
