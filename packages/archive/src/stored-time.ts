import { z } from 'zod';

/** A time as stored objects have it, in ISO 8601. */
export const storedTime = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
