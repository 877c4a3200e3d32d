import { AsyncLocalStorage } from 'node:async_hooks';

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
import { randomHex } from './random-hex.ts';

let isExporting = false;

/** From now on spans are exported; before, only ids are handed on. */
export function enableSpanExport(): void {
  isExporting = true;
}

/** What may be told of a span. Values are of closed sets, but for media's key and id: no user, no caption and no credential is among them. */
export interface SpanAttributes {
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

const kinds: Record<Kind, SpanKind> = {
  client: SpanKind.CLIENT,
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/**
 * A listener that has a trace of its own for every request, whatever `traceparent` the request brings: who asks is a stranger (decision 023). The span
 * ends with the answer, and is named after the route that Express found, never after what was asked for.
 */
export function traceRequests(listener: RequestListener): RequestListener {
  return (request, response) => {
    const span = isExporting ? requestSpan(request, response) : unrecorded();
    context.with(trace.setSpan(ROOT_CONTEXT, span), listener, undefined, request, response);
  };
}

function requestSpan(request: IncomingMessage, response: ServerResponse): Span {
  const method = methodOf(request);
  const span = begun(method, 'server', { 'http.request.method': method }, ROOT_CONTEXT);
  response.once('close', () => endOfRequest(span, method, request, response));
  return span;
}

function endOfRequest(span: Span, method: string, request: IncomingMessage, response: ServerResponse): void {
  const route = expressRoute(request) ?? 'none';
  const status = response.headersSent ? { 'http.response.status_code': response.statusCode } : { 'error.type': 'gone' };
  span.updateName(`${method} ${route}`).setAttributes({ 'http.route': route, ...status });
  if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/**
 * Does `work` as a span of the trace that runs; where none runs, or it is not recorded, `work` is done as it is. What `work` throws is told by the
 * name of its class alone, since messages may hold anything.
 */
export function inSpan<T>(name: string, kind: Kind, facts: SpanAttributes, work: () => Promise<T>): Promise<T> {
  const parent = context.active();
  return isRecorded(trace.getSpan(parent)) ? recorded(name, kind, facts, work, parent) : work();
}

async function recorded<T>(
  name: string,
  kind: Kind,
  facts: SpanAttributes,
  work: () => Promise<T>,
  parent: Context,
): Promise<T> {
  const span = begun(name, kind, facts, parent);
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', nameOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Tells more of the span that runs, if one does. */
export function setSpanAttributes(facts: SpanAttributes): void {
  trace.getActiveSpan()?.setAttributes({ ...facts });
}

/** The trace that runs, for another service of ours to continue it: the value of a `traceparent` (W3C Trace Context); undefined where none runs. */
export function traceparent(): string | undefined {
  const running = runningTrace();
  return running && `00-${running.traceId}-${running.spanId}-${running.traceFlags & TraceFlags.SAMPLED ? '01' : '00'}`;
}

/** Does `work` within the trace that another service of ours has named; where that is none, `work` has no trace. */
export function continueTrace<T>(traceparent: string | undefined, work: () => T): T {
  const remote = spanContextOf(traceparent);
  return context.with(remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT, work);
}

/** `listener`, to be called within the trace that runs now: what a socket emits has the trace of its connection's first request, or none. */
export function bindTrace<A extends unknown[], R>(listener: (...args: A) => R): (...args: A) => R {
  return AsyncLocalStorage.bind(listener);
}

/** What a log line says of the trace that runs, under the names of OpenTelemetry's "Trace Context in non-OTLP Log Formats". */
export function traceLogFields(): { trace_id?: string; span_id?: string } {
  const running = runningTrace();
  if (!running) return {};
  const isSampled = (running.traceFlags & TraceFlags.SAMPLED) !== 0;
  return { trace_id: running.traceId, ...(isSampled && { span_id: running.spanId }) };
}

function runningTrace(): SpanContext | undefined {
  return trace.getSpanContext(context.active());
}

// Whether another service's span is recorded is the sampler's to say.
function isRecorded(span: Span | undefined): boolean {
  return span !== undefined && (span.isRecording() || (isExporting && span.spanContext().isRemote === true));
}

// An SDK that was told to do nothing makes spans that only pass on the ids of their parent: the first of a trace gets ids of ours.
function begun(name: string, kind: Kind, facts: SpanAttributes, parent: Context): Span {
  const span = trace.getTracer('echodrop').startSpan(name, { kind: kinds[kind], attributes: { ...facts } }, parent);
  return isSpanContextValid(span.spanContext()) ? span : unrecorded();
}

function unrecorded(): Span {
  const ids = randomHex(24);
  return trace.wrapSpanContext({ traceId: ids.slice(0, 32), spanId: ids.slice(32), traceFlags: TraceFlags.NONE });
}

function spanContextOf(traceparent = ''): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = /^00-([\da-f]{32})-([\da-f]{16})-(0[01])$/.exec(traceparent) ?? [];
  const remote = { traceId, spanId, traceFlags: Number(flags), isRemote: true };
  return isSpanContextValid(remote) ? remote : undefined;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
