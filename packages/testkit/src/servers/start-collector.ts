import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './listen.ts';

/** A span as it was exported. */
export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined of a trace's first. */
  readonly parentSpanId: string | undefined;
  readonly facts: Record<string, string | number>;
}

/** Who receives traces by OTLP over HTTP, in its JSON spelling (`OTEL_EXPORTER_OTLP_PROTOCOL=http/json`). */
export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that came, headers too. */
  readonly received: string;
  /** How many exports came, those included that got no response. */
  readonly exports: number;
  /** From now on it does not respond. */
  hang(): void;
  /** Responds to every request again. */
  respond(): void;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let received = '';
  let exports = 0;
  let hangs = false;
  const server = createServer(async (request, response) => {
    exports += 1;
    const body = await text(request).catch(() => '');
    if (hangs) return;
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
      readonly spans: readonly (Omit<CollectedSpan, 'service' | 'facts'> & {
        readonly attributes: readonly Attribute[];
      })[];
    }[];
  }[];
}

function spansOf({ resourceSpans }: ExportRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(factsOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId, attributes }) => ({
        service,
        name,
        traceId,
        spanId,
        parentSpanId,
        facts: factsOf(attributes),
      })),
    );
  });
}

function factsOf(attributes: readonly Attribute[]): CollectedSpan['facts'] {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']));
}
