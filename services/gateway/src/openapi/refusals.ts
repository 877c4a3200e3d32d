import { messagesOf, type Reason, refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { z } from 'zod';
import { encodeRefusal } from '../response/encode-refusal.ts';
import { schemaOf } from './json-schema.ts';
import type { HeaderName } from './parameters.ts';
import { responseOf } from './responses.ts';

const byStatus = Map.groupBy(Object.keys(refusals) as Reason[], (reason) => refusals[reason][0]);

const headersByStatus: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate', 'Retry-After?'],
  405: ['Allow'],
  409: ['Retry-After?'],
  412: ['Tus-Version'],
  423: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** An OpenAPI response for each status of a refusal, by its name. */
export const refusalResponses = Object.fromEntries(
  byStatus.entries().map(([status, reasons]) => [`Refused${status}`, refusalOf(status, reasons)]),
);

/** The responses of a resumable upload by status: all but 405. */
export const resumableRefusals = namesOf(allBut('method_not_allowed'));

/** The refusals of an upload in one request, by status. */
export const uploadRefusals = namesOf(
  allBut('method_not_allowed', 'tus_version', 'upload_locked', 'checksum_mismatch'),
);

/** The refusals of a request about own uploads, by status. */
export const ownRefusals = namesOf([
  ...statusesOf('query_malformed', 'credentials_refused', 'not_yours', 'not_found', 'removed', 'expectation_failed'),
  ...statusesOf('too_many_requests', 'headers_too_large', 'internal_error', 'unavailable'),
]);

function refusalOf(status: number, reasons: readonly Reason[]) {
  const error = z.object({
    code: z.literal(status).meta({ type: 'integer' }),
    reason: z.enum(reasons),
    message: z.string().describe('For people; it may change.'),
  });
  const shapes = {
    json: z.object({ errors: z.array(error).length(1) }),
    xml: z.object({ error }).meta({ xml: { name: 'errors' } }),
  };
  const content = (format: keyof typeof shapes) => ({
    schema: schemaOf(shapes[format]),
    examples: Object.fromEntries(reasons.map((reason) => [reason, { value: example(reason, format) }])),
  });
  return responseOf(
    reasons.map((reason) => `\`${reason}\`: ${messagesOf(reason).join(' Or: ')}`).join('\n\n'),
    ['Cache-Control?', 'Tus-Resumable?', ...(headersByStatus[status] ?? [])],
    { 'application/json': content('json'), 'application/xml': content('xml') },
  );
}

function example(reason: Reason, format: 'json' | 'xml'): unknown {
  const [sentence = ''] = messagesOf(reason);
  const refusal = { reason, status: refusals[reason][0], sentence, retryAfterSeconds: undefined };
  const { body } = encodeRefusal(refusal, format);
  return format === 'json' ? JSON.parse(body) : body;
}

function allBut(...reasons: readonly Reason[]): Iterable<number> {
  return new Set(byStatus.keys()).difference(new Set(statusesOf(...reasons)));
}

function statusesOf(...reasons: readonly Reason[]): number[] {
  return reasons.map((reason) => refusals[reason][0]);
}

function namesOf(statuses: Iterable<number>): Record<number, string> {
  return Object.fromEntries(Array.from(statuses, (status) => [status, `Refused${status}`]));
}
