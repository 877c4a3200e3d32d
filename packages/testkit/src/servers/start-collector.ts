import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';
import { ProtobufMessage } from './read-protobuf.ts';

/** An exported span. */
export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined for the root span. */
  readonly parentSpanId: string | undefined;
  readonly attributes: Record<string, string | number>;
}

/** A receiver of traces by OTLP over HTTP. */
export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything received, including headers: bodies as text, for names and values, and in hexadecimal, for ids. */
  readonly received: string;
  /** The number of exports, including those without a response. */
  readonly exports: number;
  /** Stops responding. */
  hang(): void;
  /** Resumes responding. */
  respond(): void;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let received = '';
  let exports = 0;
  let hangs = false;
  const server = createServer(async (request, response) => {
    exports += 1;
    const body = await buffer(request).catch(() => undefined);
    // Undefined: its sender has ended.
    if (hangs || body === undefined) return;
    received += `${request.method} ${request.url} ${request.rawHeaders.join(' ')}\n${body}\n${body.toString('hex')}\n`;
    spans.push(...spansOf(new ProtobufMessage(body)));
    response.setHeader('Content-Type', 'application/x-protobuf').end();
  });
  const { origin: url, [Symbol.asyncDispose]: dispose } = await listen(server);
  return {
    url,
    spans,
    get received() {
      return received;
    },
    get exports() {
      return exports;
    },
    hang() {
      hangs = true;
    },
    respond() {
      hangs = false;
    },
    [Symbol.asyncDispose]: dispose,
  };
}

// Numbers of fields: opentelemetry-proto, collector/trace/v1/trace_service.proto and trace/v1/trace.proto.
function spansOf(exportRequest: ProtobufMessage): CollectedSpan[] {
  return exportRequest.messages(1).flatMap((resourceSpans) => {
    const [resource] = resourceSpans.messages(1);
    const service = String(resource && attributesOf(resource, 1)['service.name']);
    return resourceSpans.messages(2).flatMap((scopeSpans) =>
      scopeSpans.messages(2).map((span) => ({
        service,
        name: span.text(5) ?? '',
        traceId: span.bytes(1)?.toString('hex') ?? '',
        spanId: span.bytes(2)?.toString('hex') ?? '',
        parentSpanId: span.bytes(4)?.toString('hex'),
        attributes: attributesOf(span, 9),
      })),
    );
  });
}

/** Attributes that are texts or whole numbers. */
function attributesOf(message: ProtobufMessage, field: number): CollectedSpan['attributes'] {
  return Object.fromEntries(
    message.messages(field).map((attribute) => {
      const [value] = attribute.messages(2);
      return [attribute.text(1) ?? '', value?.text(1) ?? value?.number(3) ?? ''];
    }),
  );
}
