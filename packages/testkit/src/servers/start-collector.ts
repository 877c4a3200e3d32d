import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './listen.ts';

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

/** A receiver of traces by OTLP over HTTP with JSON (`OTEL_EXPORTER_OTLP_PROTOCOL=http/json`). */
export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything received, including headers. */
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
    const body = await text(request).catch(() => undefined);
    // Undefined: its sender has ended.
    if (hangs || body === undefined) return;
    received += `${request.method} ${request.url} ${request.rawHeaders.join(' ')}\n${body}\n`;
    spans.push(...spansOf(JSON.parse(body)));
    response.setHeader('Content-Type', 'application/json').end('{}');
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

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'service' | 'attributes'> & {
        readonly attributes: readonly Attribute[];
      })[];
    }[];
  }[];
}

function spansOf({ resourceSpans }: ExportRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId, attributes }) => ({
        service,
        name,
        traceId,
        spanId,
        parentSpanId,
        attributes: attributesOf(attributes),
      })),
    );
  });
}

function attributesOf(attributes: readonly Attribute[]): CollectedSpan['attributes'] {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']));
}
