import { spawnSync } from 'node:child_process';

/** The allocator of images, and its Debian package (deploy/Dockerfile, docs/decisions/052). */
export const allocator = { library: 'libjemalloc.so.2', debianPackage: 'libjemalloc2' } as const;

/**
 * The environment with which a program uses the allocator of images. Empty if this system lacks the library: programs then run with the
 * system's allocator, which keeps more memory.
 */
export function allocatorSettings(): { LD_PRELOAD?: string } {
  const env = { LD_PRELOAD: allocator.library };
  // The dynamic linker of glibc prints an error and continues without the library; the one of musl ends the program.
  const { status, stderr } = spawnSync('/bin/true', { env, encoding: 'utf8' });
  return status === 0 && stderr === '' ? env : {};
}
