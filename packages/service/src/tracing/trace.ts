import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { expressRoute, methodOf } from '../metrics/request-labels.ts';

let isExporting = false;

/** Exports spans from now on. Before, only trace ids are passed on. */
export function enableSpanExport(): void {
  isExporting = true;
}

/** Values are from closed sets, except media key and id. No attribute may hold a user, a caption or a credential. */
interface SpanAttributes {
  readonly 'http.request.method'?: string;
  readonly 'http.route'?: string;
  readonly 'http.response.status_code'?: number;
  readonly 'messaging.system'?: 'bullmq';
  readonly 'messaging.destination.name'?: string;
  readonly 'echodrop.media.key'?: string | undefined;
  readonly 'echodrop.media.id'?: string | undefined;
  readonly 'echodrop.object.kind'?: string;
  readonly 'echodrop.outcome'?: string;
  readonly 'echodrop.provider'?: string;
  readonly 'echodrop.source'?: string;
  readonly 'error.type'?: string;
}

type Kind = 'client' | 'server' | 'producer' | 'consumer';

/**
 * Wraps a request listener: each request starts a new trace and ignores an untrusted `traceparent` (docs/decisions/metrics-and-traces.md).
 * The span ends with the response and is named after the Express route, never after the requested path.
 */
export function traceRequests(listener: RequestListener): RequestListener {
  return (request, response) => {
    const span = isExporting ? startRequestSpan(request, response) : unrecordedSpan();
    context.with(trace.setSpan(ROOT_CONTEXT, span), listener, undefined, request, response);
  };
}

function startRequestSpan(request: IncomingMessage, response: ServerResponse): Span {
  const method = methodOf(request);
  const span = startSpan(method, 'server', { 'http.request.method': method }, ROOT_CONTEXT);
  response.once('close', () => endRequestSpan(span, method, request, response));
  return span;
}

function endRequestSpan(span: Span, method: string, request: IncomingMessage, response: ServerResponse): void {
  const route = expressRoute(request) ?? 'none';
  const status = response.headersSent ? { 'http.response.status_code': response.statusCode } : { 'error.type': 'gone' };
  span.updateName(`${method} ${route}`).setAttributes({ 'http.route': route, ...status });
  if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Runs `work` in a span of the current trace, if that is recorded. The span omits messages of errors. */
export async function inSpan<T>(
  name: string,
  kind: Kind,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  const parent = context.active();
  if (!isRecorded(trace.getSpan(parent))) return work();
  const span = startSpan(name, kind, attributes, parent);
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', nameOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Sets attributes of the current span, if any. */
export function setSpanAttributes(attributes: SpanAttributes): void {
  trace.getActiveSpan()?.setAttributes({ ...attributes });
}

/** The `traceparent` (W3C Trace Context) that lets another service continue the current trace, if any. */
export function traceparent(): string | undefined {
  const current = currentTrace();
  return current && `00-${current.traceId}-${current.spanId}-${current.traceFlags & TraceFlags.SAMPLED ? '01' : '00'}`;
}

/** Runs `work` in the trace of a `traceparent` from another service; without one, `work` has no trace. */
export function continueTrace<T>(traceparent: string | undefined, work: () => T): T {
  const remote = spanContextOf(traceparent);
  return context.with(remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT, work);
}

/** Binds `listener` to the current trace: socket events otherwise have that of the connection's first request, or none. */
export function bindTrace<A extends unknown[], R>(listener: (...args: A) => R): (...args: A) => R {
  const current = context.active();
  return (...args) => context.with(current, () => listener(...args));
}

/** Log fields of the current trace, named as in OpenTelemetry's "Trace Context in non-OTLP Log Formats". */
export function traceLogFields(): { trace_id?: string; span_id?: string } {
  const current = currentTrace();
  if (!current) return {};
  const isSampled = (current.traceFlags & TraceFlags.SAMPLED) !== 0;
  return { trace_id: current.traceId, ...(isSampled && { span_id: current.spanId }) };
}

function currentTrace(): SpanContext | undefined {
  return trace.getSpanContext(context.active());
}

// The sampler decides whether a span below one of another service is recorded.
function isRecorded(span: Span | undefined): boolean {
  return span !== undefined && (span.isRecording() || (isExporting && span.spanContext().isRemote === true));
}

// With OTEL_SDK_DISABLED, spans only pass on the ids of their parent, so the first span of a trace needs new ids.
function startSpan(name: string, kind: Kind, attributes: SpanAttributes, parent: Context): Span {
  const options = { kind: SpanKind[kind.toUpperCase() as Uppercase<Kind>], attributes: { ...attributes } };
  const span = trace.getTracer('echodrop').startSpan(name, options, parent);
  return isSpanContextValid(span.spanContext()) ? span : unrecordedSpan();
}

function unrecordedSpan(): Span {
  // Node makes the bytes of many UUIDs at once, which costs a tenth of `randomBytes`.
  const [traceId = '', spanId = ''] = [randomUUID(), randomUUID()].map((id) => id.replaceAll('-', ''));
  return trace.wrapSpanContext({ traceId, spanId: spanId.slice(16), traceFlags: TraceFlags.NONE });
}

function spanContextOf(traceparent = ''): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = /^00-([\da-f]{32})-([\da-f]{16})-(0[01])$/.exec(traceparent) ?? [];
  const remote = { traceId, spanId, traceFlags: Number(flags), isRemote: true };
  return isSpanContextValid(remote) ? remote : undefined;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
