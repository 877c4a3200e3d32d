import { z } from 'zod';

type JsonSchema = Omit<z.core.JSONSchema.BaseSchema, '$schema' | '$id'>;
export type Shapes = Readonly<Record<string, z.ZodType>>;

/** The JSON Schema of the values of `shape`. */
export function schemaOf(shape: z.ZodType): JsonSchema {
  return withoutAddresses(z.toJSONSchema(shape, { override }));
}

/** The schemas of shapes, which refer to each other as components of an OpenAPI document. */
export function componentSchemas(shapes: Shapes): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, shape] of Object.entries(shapes)) registry.add(shape, { id });
  const { schemas } = z.toJSONSchema(registry, { override, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutAddresses(schema)]));
}

/** An OpenAPI parameter, or a header of a response. A shape that accepts undefined is optional. */
export function describeValue(shape: z.ZodType) {
  const { description, examples, ...schema } = schemaOf(shape);
  const [example] = (examples ?? []) as readonly unknown[];
  return { required: !shape.safeParse(undefined).success, description, schema, example };
}

// The document does not say that there are no other properties, nor which integers JavaScript can represent. A format needs no pattern.
function override({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  delete jsonSchema.additionalProperties;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
}

function withoutAddresses({ $schema, $id, ...schema }: z.core.JSONSchema.BaseSchema): JsonSchema {
  return schema;
}
