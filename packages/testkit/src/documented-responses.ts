import { Ajv2020 } from 'ajv/dist/2020.js';
import { readXml } from './read-xml.ts';

/** The parts of an OpenAPI 3.1 document that `undocumented` reads. */
export interface OpenApi {
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
  };
}

interface Schema {
  readonly $ref?: string;
  readonly xml?: { readonly name: string };
  readonly [keyword: string]: unknown;
}

interface ResponseObject {
  readonly headers: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly examples?: object }>>;
}

/** The responses of an operation, by status. */
export type Responses = Readonly<Record<string, { readonly $ref: string }>>;

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

// Headers of HTTP itself, which no operation documents.
const httpHeaders = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding', 'vary'];

// XML and headers contain only text, which the schema converts to numbers.
const readers = {
  text: new Ajv2020({ strict: false, validateFormats: false, allErrors: true, coerceTypes: true }),
  json: new Ajv2020({ strict: false, validateFormats: false, allErrors: true }),
};

/** Everything in `response` that `document` does not describe: status, headers, type and body, including properties that the schema lacks. */
export function undocumented(document: OpenApi, responses: Responses, response: ReceivedResponse): string[] {
  const named = responses[response.status];
  if (!named) return [`status ${response.status}: ${response.text}`];
  const { headers, content } = resolveReference<ResponseObject>(document, named.$ref);
  return [...undocumentedHeaders(headers, response), ...undocumentedBody(document, content, response)];
}

function undocumentedHeaders(documented: ResponseObject['headers'], response: ReceivedResponse): string[] {
  const names = Object.keys(documented).map((name) => name.toLowerCase());
  const unknown = [...response.headers.keys()].filter((name) => !names.includes(name) && !httpHeaders.includes(name));
  const wrong = Object.entries(documented).flatMap(([name, { required, schema }]) => {
    const value = response.headers.get(name);
    if (value === null) return required ? [`no header ${name}`] : [];
    return faults('text', { properties: { [name]: schema } }, { [name]: value });
  });
  return [...unknown.map((name) => `header ${name}: ${response.headers.get(name)}`), ...wrong];
}

function undocumentedBody(
  document: OpenApi,
  documented: ResponseObject['content'],
  { headers, text }: ReceivedResponse,
): string[] {
  const type = headers.get('content-type')?.replace(/;.*/, '') ?? 'none';
  const given = documented?.[type]?.schema;
  if (!given) return documented || text !== '' ? [`content-type ${type}`] : [];
  const schema = given.$ref ? resolveReference<Schema>(document, given.$ref) : given;
  if (type !== 'application/xml') return faults('json', schema, JSON.parse(text));
  const { name, content } = readXml(text);
  return name === schema.xml?.name ? faults('text', schema, content) : [`root element ${name}`];
}

function faults(reader: keyof typeof readers, schema: object, value: unknown): string[] {
  const validate = readers[reader].compile(withoutOtherProperties(schema));
  return validate(value)
    ? []
    : (validate.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
      );
}

function withoutOtherProperties(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_name, value) =>
    value?.type === 'object' ? { ...value, additionalProperties: false } : value,
  );
}

function resolveReference<T>(document: OpenApi, reference: string): T {
  const found = reference
    .split('/')
    .slice(1)
    .reduce<unknown>((within, name) => (within as Record<string, unknown>)?.[name], document);
  if (found === undefined) throw new Error(`${reference} not found`);
  return found as T;
}
