import { tmpdir } from 'node:os';
import { z } from 'zod';

/** The default and the meaning of a setting, in Markdown. @throws Error if it has no description */
export function describeSetting(
  name: string,
  schema: z.ZodType,
): { readonly default: string; readonly meaning: string } {
  const layers = layersOf(schema);
  const meta: z.GlobalMeta = Object.assign({}, ...layers.map((layer) => layer.meta()).reverse());
  if (!meta.description) throw new Error(`${name} has no description. Add one with .describe().`);
  const limits = limitsOf(meta);
  return { default: defaultOf(layers, meta), meaning: limits ? `${meta.description}. ${limits}` : meta.description };
}

/** The schema and those inside it, the outermost first. */
function layersOf(schema: z.core.$ZodType): z.ZodType[] {
  if (!(schema instanceof z.ZodType)) return [];
  if (schema instanceof z.ZodPipe) return [schema, ...layersOf(schema.in)];
  const hasInner = schema instanceof z.ZodOptional || isDefault(schema);
  return hasInner ? [schema, ...layersOf(schema.unwrap())] : [schema];
}

function isDefault(schema: z.ZodType): schema is z.ZodDefault | z.ZodPrefault {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
}

function defaultOf(layers: readonly z.ZodType[], { condition }: z.GlobalMeta): string {
  if (condition) {
    const { other, is } = condition as { other: string; is?: string };
    return is === undefined ? `\`${other}\`` : `required if \`${other}\` is \`${is}\``;
  }
  const layer = layers.find(isDefault);
  if (!layer) return layers[0] instanceof z.ZodOptional ? 'none' : 'required';
  const value = layer.def.defaultValue;
  if (value === tmpdir()) return "the system's temporary folder";
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && !['', '{}'].includes(value) ? `\`${value}\`` : 'none';
}

/** What a value must fulfil beyond its type. */
function limitsOf({ secret, isRotated, minLength, min, max }: z.GlobalMeta): string {
  const length = Number(minLength) > 1 ? ` of at least ${minLength} characters` : '';
  if (secret) return `${isRotated ? 'Rotatable secret' : 'Secret'}${length}`;
  const minimum = Number(min) > 1 ? [`Minimum: ${min}`] : [];
  const maximum = Number(max) < Number.MAX_SAFE_INTEGER ? [`Maximum: ${max}`] : [];
  return [...minimum, ...maximum].join('. ');
}
