import * as z from 'zod/mini';

/**
 * Calls `define` to make schemas that zod does not compile: it tries `new Function`, which a page's Content-Security-Policy reports. A schema keeps
 * the setting of its creation, and the setting itself belongs to the program that uses this package.
 */
export function withoutJit<T>(define: () => T): T {
  const { jitless } = z.config();
  z.config({ jitless: true });
  try {
    return define();
  } finally {
    z.config({ jitless });
  }
}
