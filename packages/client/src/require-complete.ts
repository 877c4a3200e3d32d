import * as z from 'zod/mini';
import { asciiWord, hasLogin } from './service-address.ts';
import { withoutJit } from './without-jit.ts';

/** Options that callers without types may get wrong. */
export const optionShapes = withoutJit(() => {
  const hasNoLogin = (text: string) => !URL.canParse(text) || !hasLogin(text);
  const address = z
    .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
    .check(z.refine(hasNoLogin, 'must be an address without user and password'));
  const hasNoQuery = z.refine<string>(
    (text) => !/[?#]/.test(text),
    'must contain no "?" or "#": use an address such as https://upload.example',
  );
  const countError = 'must be a whole number, 0 or more';
  const count = z.optional(z.int(countError).check(z.minimum(0, countError)));
  const pageError = 'must be a whole number, 1 to 100';
  const stallError = 'must be a whole number of milliseconds, 1 to 2147483647';
  const given = z.string().check(z.minLength(1, { abort: true }));
  const text = z.optional(z.string('must be a string'));
  const callback = z.optional(z.custom((value) => typeof value === 'function', 'must be a function'));
  const signal = z.custom((value) => value instanceof EventTarget && 'aborted' in value, 'must be an AbortSignal');
  const client = z.object({
    service: z.pipe(z.coerce.string(), address.check(hasNoQuery)),
    provider: z.pipe(
      // A URL could spell the address differently than the service.
      z.string('must be a string'),
      // A header carries the value.
      address.check(z.regex(asciiWord, 'must contain only ASCII characters, without spaces')),
    ),
    apiKey: text,
    credentials: z.union(
      [
        z.object({ bearer: z.string().check(z.regex(asciiWord, { abort: true })) }),
        z.object({ consumerKey: given, consumerSecret: given, token: given, tokenSecret: given }),
      ],
      { error: 'must be { bearer } without whitespace or { consumerKey, consumerSecret, token, tokenSecret }' },
    ),
    fetch: callback,
    retries: count,
    stallMs: z.optional(z.int(stallError).check(z.minimum(1, stallError), z.maximum(2 ** 31 - 1, stallError))),
  });
  // Unknown names are refused: with a misspelt name, the upload would be published without its caption.
  const upload = z.strictObject({
    message: text,
    alt: text,
    filename: text,
    idempotencyKey: z.optional(
      z
        .string('must be a string')
        .check(z.regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters')),
    ),
    onProgress: callback,
    onRetry: callback,
    version: z.optional(z.literal([1, 2], { error: 'must be 1 or 2' })),
    format: z.optional(z.literal(['json', 'xml'], { error: "must be 'json' or 'xml'" })),
    resumeId: z.optional(z.string('must be a string').check(z.regex(/^[\w-]+$/, 'must be an id from `onResumable`'))),
    onResumable: callback,
    signal: z.optional(signal),
  });
  const request = z.strictObject({ signal: z.optional(signal) });
  const list = z.extend(request, {
    after: text,
    count: z.optional(z.int(pageError).check(z.minimum(1, pageError), z.maximum(100, pageError))),
  });
  return { client, upload, list, request };
});

/** @throws TypeError that names an option which is missing or invalid */
export function requireOptions(shape: z.ZodMiniType, options: unknown): void {
  const [issue] = shape.safeParse(options).error?.issues ?? [];
  if (issue?.code === 'unrecognized_keys') throw new TypeError(`There is no option \`${issue.keys[0]}\`.`);
  if (issue?.path.length === 0) throw new TypeError('Options must be an object.');
  if (issue) throw new TypeError(`\`${String(issue.path[0])}\` ${issue.message}.`);
}

/** @throws TypeError if `id` is no id */
export function requireId(id: unknown): void {
  if (typeof id !== 'string' || id === '') throw new TypeError('The id of an upload must be a string, not empty.');
}
