import { type MediaRecord, parseExactJson } from '@echodrop/record';
import { DOMParser, type Element } from '@xmldom/xmldom';
import { z } from 'zod';
import { UploadRefused } from './refused.ts';

export type Format = 'xml' | 'json';

/** The service said 200, but what it sent is no record. The media may have been published. */
export class UnreadableResponse extends Error {
  override readonly name = 'UnreadableResponse';
}

const wholeNumber = z.coerce.number().int().nonnegative();

// One shape for both formats: in XML all values are texts.
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

/**
 * The record in the body of a 200, user ids exact to 64 bits.
 * @throws UnreadableResponse
 */
export function readRecord(format: Format, body: string): MediaRecord {
  const { data, error } = record.safeParse(parsed(format, body));
  if (!data) throw new UnreadableResponse(`the answer is no record: ${error.message}`);
  return data;
}

/** What an answer that is not 200 says; where it does not say it in the service's own shape, as little as the status tells. */
export function readRefusal(format: Format, body: string, response: Response): UploadRefused {
  const { data } = refusal.safeParse(parsed(format, body));
  const seconds = response.headers.get('retry-after');
  return new UploadRefused(
    response.status,
    data?.errors[0] ?? { reason: 'unknown', message: `the service answered ${response.status}` },
    seconds && /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined,
  );
}

/** The body as the object that its JSON is, or would be; undefined when it is neither. */
function parsed(format: Format, body: string): unknown {
  try {
    return format === 'json' ? parseExactJson(body) : fromXml(body);
  } catch {
    return undefined;
  }
}

function fromXml(body: string): unknown {
  const fail = (level: string, message: string) => {
    // A warning is of a text that may be meant so, such as U+FFFD.
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
