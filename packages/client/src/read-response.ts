import type { MediaRecord, RecordPage } from '@echodrop/record';
import * as z from 'zod/mini';
import { checkAddress, notFromService, RequestRefused } from './client-errors.ts';
import { parseExactJson } from './exact-json.ts';
import { parseXml } from './parse-xml.ts';
import { retryAfterSeconds } from './retry.ts';
import { asciiWord } from './service-address.ts';
import { describeProxyResponse } from './upload/refused-uploads.ts';
import { withoutJit } from './without-jit.ts';

export type Format = 'xml' | 'json';

const { recordShape, pageShape, refusalShape } = withoutJit(() => {
  const wholeNumber = z.pipe(z.coerce.string().check(z.regex(/^\d{1,15}$/)), z.coerce.number());
  const userId = z.pipe(z.coerce.string().check(z.regex(/^-?\d{1,40}$/)), z.coerce.bigint());
  const someText = z.string().check(z.minLength(1));
  // Commands print the cursor for a shell.
  const cursor = z.string().check(z.regex(/^[\w.~+/=-]{1,200}$/));
  // This shape fits both formats: in XML all values are strings.
  const recordShape = z.object({
    id: someText,
    text: z.string(),
    // Programs link to the address, so it may not begin with `javascript:`.
    url: z.url({ protocol: /^https?$/ }).check(z.regex(asciiWord)),
    width: wholeNumber,
    height: wholeNumber,
    size: wholeNumber,
    type: someText,
    timestamp: z.pipe(z.string(), z.coerce.date()),
    user: z.object({ id: userId, screen_name: z.string() }),
  });
  // The number is checked first: a hostile page may have a million records.
  const mostRecords = z.array(z.unknown()).check(z.maxLength(100));
  const pageShape = z.object({
    media: z.pipe(mostRecords, z.array(recordShape)),
    next: z.optional(cursor),
  });
  const refusalShape = z.object({
    errors: z.tuple([z.object({ reason: z.string(), message: z.string() })], z.unknown()),
  });
  return { recordShape, pageShape, refusalShape };
});

/** Reads the record of a 200 response, with exact 64-bit user ids. @throws UnreadableResponse */
export async function readRecord(format: Format, body: string): Promise<MediaRecord> {
  return asRecord(read(recordShape, await parseBody(format, body)));
}

/** Reads a page of records from JSON. @throws UnreadableResponse */
export async function readPage(body: string): Promise<RecordPage> {
  const { media, next } = read(pageShape, await parseBody('json', body));
  return { records: media.map(asRecord), ...(next !== undefined && { next }) };
}

/** Reads the refusal of any other response; only the status if the body is not a refusal. */
export async function readRefusal(format: Format, body: string, response: Response): Promise<RequestRefused> {
  const { status, headers } = response;
  const { data } = refusalShape.safeParse(await parseBody(format, body));
  return new RequestRefused({
    status,
    ...(data?.errors[0] ?? { reason: 'unknown', message: statusMessage(response) }),
    retryAfterSeconds: retryAfterSeconds(headers.get('retry-after') ?? ''),
    requestId: headers.get('x-request-id') ?? undefined,
  });
}

function statusMessage({ status, headers }: Response): string {
  // A response to HEAD has no body, and a success is none of a proxy.
  if (headers.has('tus-resumable') || status < 400) return `The service responded with ${status}.`;
  const description = describeProxyResponse(status, headers.get('content-type'));
  return [404, 405].includes(status) ? `${description} ${checkAddress}` : description;
}

function read<T>(shape: z.ZodMiniType<T>, value: unknown): T {
  const { data, error } = shape.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (issue)
    throw notFromService(['Invalid record in the response', ...issue.path.map(String), `${issue.message}.`].join(': '));
  return data as T;
}

function asRecord({ user, ...rest }: z.infer<typeof recordShape>): MediaRecord {
  return { ...rest, user: { id: user.id, screenName: user.screen_name } };
}

async function parseBody(format: Format, body: string): Promise<unknown> {
  try {
    return format === 'json' ? parseExactJson(body) : await parseXml(body);
  } catch {
    return undefined;
  }
}
