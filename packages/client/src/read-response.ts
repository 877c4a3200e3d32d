import { type MediaRecord, parseExactJson } from '@echodrop/record';
import { DOMParser, type Element } from '@xmldom/xmldom';
import { z } from 'zod';

export type Format = 'xml' | 'json';

/** A 200 response without a record. The media may have been published. */
export class UnreadableResponse extends Error {
  override readonly name = 'UnreadableResponse';
}

/** The service responded without a record. `reason` is machine-readable (`credentials_refused`, ...). */
export class UploadRefused extends Error {
  override readonly name = 'UploadRefused';
  /** The HTTP status. */
  readonly status: number;
  readonly reason: string;
  /** From Retry-After, if present. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, { reason, message }: { reason: string; message: string }, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const wholeNumber = z.coerce.number().int().nonnegative();

// For both formats; in XML all values are strings.
const record = z
  .object({
    id: z.string().min(1),
    text: z.string(),
    url: z.string().min(1),
    width: wholeNumber,
    height: wholeNumber,
    size: wholeNumber,
    type: z.string().min(1),
    timestamp: z.string().pipe(z.coerce.date()),
    user: z.object({ id: z.coerce.bigint(), screen_name: z.string() }),
  })
  .transform(({ user, ...rest }): MediaRecord => ({ ...rest, user: { id: user.id, screenName: user.screen_name } }));

const refusal = z.object({
  errors: z.tuple([z.object({ reason: z.string(), message: z.string() })]).rest(z.unknown()),
});

/** Reads the record of a 200 response, with exact 64-bit user ids. @throws UnreadableResponse */
export function readRecord(format: Format, body: string): MediaRecord {
  const { data, error } = record.safeParse(parse(format, body));
  if (!data) throw new UnreadableResponse(`Invalid record in the response: ${error.message}`);
  return data;
}

/** Reads the refusal of any other response; only the status if the body is not a refusal. */
export function readRefusal(format: Format, body: string, response: Response): UploadRefused {
  const { data } = refusal.safeParse(parse(format, body));
  const seconds = response.headers.get('retry-after');
  return new UploadRefused(
    response.status,
    data?.errors[0] ?? { reason: 'unknown', message: `The service responded ${response.status}.` },
    seconds && /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined,
  );
}

// XML becomes the object that its JSON would be.
function parse(format: Format, body: string): unknown {
  try {
    return format === 'json' ? parseExactJson(body) : fromXml(body);
  } catch {
    return undefined;
  }
}

function fromXml(body: string): unknown {
  const fail = (level: string, message: string) => {
    // A warning concerns valid text, such as U+FFFD.
    if (level === 'warning') return;
    throw new SyntaxError(message);
  };
  const root = new DOMParser({ onError: fail }).parseFromString(body, 'application/xml').documentElement;
  if (root?.tagName === 'errors') return { errors: elements(root).map(asObject) };
  return root?.tagName === 'image' ? asObject(root) : undefined;
}

function asObject(element: Element): unknown {
  return Object.fromEntries(
    elements(element).map((child) => [child.tagName, elements(child).length > 0 ? asObject(child) : child.textContent]),
  );
}

function elements(parent: Element): Element[] {
  return Array.from(parent.childNodes).filter((node): node is Element => node.nodeType === node.ELEMENT_NODE);
}
