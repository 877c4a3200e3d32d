import { messagesOf, type Reason, refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { encodeRefusal } from '../response/encode-refusal.ts';
import type { Format } from '../response/format.ts';
import { requestIdHeader, tusHeader } from './openapi-record.ts';

const byStatus = Map.groupBy(Object.keys(refusals) as Reason[], (reason) => refusals[reason][0]);

/** An OpenAPI response for each status of a refusal, by its name. */
export const refusalResponses = Object.fromEntries(
  byStatus.entries().map(([status, reasons]) => [`Refused${status}`, responseOf(status, reasons)]),
);

/** The refusals of a resumable upload, by status: all but 405. */
export const resumableRefusals = responsesFor((status) => status !== refusals.method_not_allowed[0]);

const resumableStatuses = (['tus_version', 'upload_locked', 'checksum_mismatch'] as const).map(
  (reason): number => refusals[reason][0],
);

/** The refusals of an upload in one request, by status. */
export const uploadRefusals = responsesFor(
  (status) => status !== refusals.method_not_allowed[0] && !resumableStatuses.includes(status),
);

const ownStatuses = [
  ...(['query_malformed', 'credentials_refused', 'not_yours', 'not_found', 'removed'] as const),
  ...(['expectation_failed', 'too_many_requests', 'headers_too_large', 'internal_error', 'unavailable'] as const),
].map((reason): number => refusals[reason][0]);

/** The refusals of a request about own uploads, by status. */
export const ownRefusals = responsesFor((status) => ownStatuses.includes(status));

function responsesFor(includes: (status: number) => boolean) {
  const statuses = byStatus.keys().filter(includes);
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]));
}

function responseOf(status: number, reasons: readonly Reason[]) {
  const error = {
    type: 'object',
    required: ['code', 'reason', 'message'],
    properties: {
      code: { type: 'integer', const: status },
      reason: { type: 'string', enum: reasons },
      message: { type: 'string', description: 'For people; it may change.' },
    },
  };
  const errors = { type: 'array', minItems: 1, maxItems: 1, items: error };
  const examples = (format: Format) =>
    Object.fromEntries(reasons.map((reason) => [reason, { value: example(reason, format) }]));
  return {
    description: reasons.map((reason) => `\`${reason}\`: ${messagesOf(reason).join(' Or: ')}`).join('\n\n'),
    headers: { ...requestIdHeader, ...tusHeader, ...headersOf(status) },
    content: {
      'application/json': {
        schema: { type: 'object', required: ['errors'], properties: { errors } },
        examples: examples('json'),
      },
      'application/xml': {
        schema: { type: 'object', xml: { name: 'errors' }, required: ['error'], properties: { error } },
        examples: examples('xml'),
      },
    },
  };
}

function headersOf(status: number): Record<string, object> {
  const seconds = { type: 'integer', minimum: 1 };
  switch (status) {
    case 401:
      return {
        'WWW-Authenticate': { required: true, schema: { type: 'string', enum: ['OAuth', 'Bearer realm="Echodrop"'] } },
        'Retry-After': { description: 'With `provider_unavailable`: seconds until a retry.', schema: seconds },
      };
    case 405:
      return { Allow: { required: true, description: 'The methods of this address.', schema: { type: 'string' } } };
    case 409:
      return {
        'Retry-After': { description: 'With `idempotency_key_in_use`: seconds until a retry.', schema: seconds },
      };
    case 412:
      return { 'Tus-Version': { required: true, schema: { type: 'string', const: '1.0.0' } } };
    case 423:
    case 429:
    case 503:
      return { 'Retry-After': { required: true, description: 'Seconds until a retry.', schema: seconds } };
    default:
      return {};
  }
}

function example(reason: Reason, format: Format): unknown {
  const [sentence = ''] = messagesOf(reason);
  const [status] = refusals[reason];
  const { body } = encodeRefusal({ reason, status, sentence, retryAfterSeconds: undefined }, format);
  return format === 'json' ? JSON.parse(body) : body;
}
