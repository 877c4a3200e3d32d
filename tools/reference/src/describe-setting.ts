import { tmpdir } from 'node:os';
import { z } from 'zod';

/** The default and the meaning of a setting, in Markdown. @throws Error if it has no description */
export function describeSetting(
  name: string,
  schema: z.ZodType,
): { readonly default: string; readonly meaning: string } {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  if (!json.description) throw new Error(`${name} has no description. Add one with .describe().`);
  const limits = limitsOf(json);
  return { default: defaultOf(schema, json), meaning: limits ? `${json.description}. ${limits}` : json.description };
}

function defaultOf(schema: z.ZodType, { condition, default: given }: z.core.JSONSchema.BaseSchema): string {
  if (condition) {
    const { other, is } = condition as { other: string; is?: string };
    return is === undefined ? `\`${other}\`` : `required if \`${other}\` is \`${is}\``;
  }
  // JSON Schema lacks some defaults.
  const { success, data } = schema.safeParse(undefined);
  if (!success) return 'required';
  const value = given ?? data;
  if (value === tmpdir()) return "the system's temporary folder";
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && !['', '{}'].includes(value) ? `\`${value}\`` : 'none';
}

/** What a value must fulfil beyond its type. */
function limitsOf({ secret, isRotated, minLength, min, max }: z.core.JSONSchema.BaseSchema): string {
  const length = Number(minLength) > 1 ? ` of at least ${minLength} characters` : '';
  if (secret) return `${isRotated ? 'Rotatable secret' : 'Secret'}${length}`;
  const minimum = Number(min) > 1 ? [`Minimum: ${min}`] : [];
  const maximum = Number(max) < Number.MAX_SAFE_INTEGER ? [`Maximum: ${max}`] : [];
  return [...minimum, ...maximum].join('. ');
}
