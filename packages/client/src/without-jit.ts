import * as z from 'zod/mini';

/**
 * Calls `define` to make schemas that zod does not compile. To compile, zod tries `new Function`, which a page's Content-Security-Policy reports. A
 * schema keeps the setting that it was created with. Afterwards the setting is as before, because it belongs to the program that uses this package.
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
