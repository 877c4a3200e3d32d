import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Secret } from './secret.ts';

/** Settings by the name of their environment variable. */
export type Settings<S extends z.ZodRawShape> = z.output<z.ZodObject<S>>;

/** Lists all invalid settings, one sentence each. Contains no values, which may be secrets. */
export class InvalidSettings extends Error {
  override readonly name = 'InvalidSettings';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

interface Bounds {
  readonly default?: number | undefined;
  readonly min?: number;
  readonly max?: number;
}

/** A whole number in decimal digits. The setting's name says the unit. */
export function wholeNumber({ default: fallback, min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds) {
  const message = `must be a whole number from ${min} to ${max}`;
  const number = z
    .string('is required')
    .regex(/^\d{1,16}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .meta({ min, max });
  return fallback === undefined ? number : number.default(fallback);
}

export function port(fallback?: number) {
  return wholeNumber({ default: fallback, max: 65_535 }).describe('listen port');
}

export function text(fallback?: string) {
  const value = z.string('is required');
  return fallback === undefined ? value : value.default(fallback);
}

/** One of `values`. `oldNames` are still accepted, each for the value that replaced it. */
export function choice<const T extends readonly [string, ...string[]]>(
  values: T,
  fallback: NoInfer<T[number]>,
  oldNames: Readonly<Record<string, NoInfer<T[number]>>> = {},
) {
  const named = z.enum(values, `must be one of ${values.join(', ')}`);
  const newName = (value: unknown) => (typeof value === 'string' && oldNames[value]) || value;
  return z.preprocess(newName, named).default(fallback);
}

/** An http(s) address; trailing slashes are removed. */
export function httpAddress(fallback?: string) {
  const address = z
    .url({
      protocol: /^https?$/,
      error: (issue) => (issue.input === undefined ? 'is required' : 'must be an http(s) address'),
    })
    .transform((value) => value.replace(/\/+$/, ''));
  return fallback === undefined ? address : address.default(fallback);
}

/** An origin, `https://host[:port]`, normalized as in browsers. */
export function httpOrigin(fallback?: string) {
  const origin = httpAddress()
    .transform((value) => new URL(value))
    .refine(
      ({ href, origin }) => href === `${origin}/`,
      'must be an http(s) address with a host alone, such as https://media.example',
    )
    .transform(({ origin }) => origin);
  return fallback === undefined ? origin : origin.default(fallback);
}

/** Entries separated by commas; ignores white space around them, and empty entries. */
export function commaSeparated(fallback?: string) {
  const entries = z.string('is required').transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  );
  return fallback === undefined ? entries : entries.prefault(fallback);
}

/** A comma-separated subset of `values`; by default empty. */
export function someOf<const T extends string>(values: readonly T[]) {
  const isOne = (entry: string): entry is T => values.some((value) => value === entry);
  return commaSeparated('')
    .refine((entries) => entries.every(isOne), `must be a comma-separated list of ${values.join(', ')}`)
    .transform((entries): ReadonlySet<T> => new Set(entries.filter(isOne)));
}

interface SecretOptions {
  readonly minLength?: number;
  /** Describes an invalid value without showing it. */
  readonly fault?: (value: string) => string | undefined;
}

/** A value that never prints, from the variable or from the file that `<NAME>_FILE` names. */
export function secret({ minLength = 1, fault = () => undefined }: SecretOptions = {}) {
  return z
    .string('is required')
    .min(minLength, `must have at least ${minLength} characters`)
    .superRefine((value, { addIssue }) => {
      const message = fault(value);
      if (message !== undefined) addIssue({ code: 'custom', message });
    })
    .transform((value) => new Secret(value))
    .meta({ secret: true, minLength });
}

/** During a rotation: the secret in use, and the previous or the next one, which is also accepted. */
export type RotatedSecret = readonly [inUse: Secret, other?: Secret];

/** One secret, or two separated by a comma; may come from a file, like `secret`. */
export function rotatedSecret({ minLength }: { minLength: number }) {
  return z
    .string('is required')
    .transform((value) => value.split(',').map((each) => each.trim()))
    .refine((values) => values.length <= 2, 'must be one secret, or two separated by a comma')
    .refine((values) => new Set(values).size === values.length, 'must be two different secrets')
    .refine((values) => values.every((each) => /^[\x20-\x7e]*$/.test(each)), 'must contain only ASCII characters')
    .refine((values) => values.every((each) => each.length >= minLength), `must have at least ${minLength} characters`)
    .transform(
      ([inUse = '', other]): RotatedSecret =>
        other === undefined ? [new Secret(inUse)] : [new Secret(inUse), new Secret(other)],
    )
    .meta({ secret: true, minLength, isRotated: true });
}

interface Condition {
  readonly other: string;
  /** The value of the other setting that makes this one required; undefined: not set. */
  readonly is?: string;
}

/** Makes `setting` required if the setting `other` is `value`, else optional. */
export function requiredWhen<T extends z.ZodType>(other: string, value: string, setting: T) {
  return setting.optional().meta({ condition: { other, is: value } });
}

/** Makes `setting` required if the setting `other` is not set, else optional. */
export function requiredWithout<T extends z.ZodType>(other: string, setting: T) {
  return setting.optional().meta({ condition: { other } });
}

/** The value of a setting that `requiredWhen` or `requiredWithout` made required. @throws TypeError if it is undefined */
export function requireSet<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('missing setting');
  return value;
}

/** Reads the settings of `shape`. An empty variable counts as unset. @throws InvalidSettings, which lists every invalid setting */
export function readSettings<S extends z.ZodRawShape>(shape: S, env: NodeJS.ProcessEnv): Settings<S> {
  const faults: string[] = [];
  const values: Record<string, string> = {};
  for (const name of Object.keys(shape)) {
    const value = isSecret(shape[name]) ? readVariableOrFile(name, env, faults) : env[name];
    if (value) values[name] = value;
  }
  const unreadable = new Set(faults.map((fault) => fault.slice(0, fault.indexOf('_FILE'))));
  faults.push(...findMissing(shape, values, unreadable));
  const result = z.object(shape).safeParse(values);
  if (result.success && faults.length === 0) return result.data;
  for (const issue of result.error?.issues ?? []) {
    if (!unreadable.has(String(issue.path[0]))) faults.push(`${issue.path.join('.')} ${issue.message}`);
  }
  throw new InvalidSettings(faults);
}

function findMissing(shape: z.ZodRawShape, values: Record<string, string>, unreadable: Set<string>): string[] {
  return Object.entries(shape).flatMap(([name, setting]) => {
    const condition = setting instanceof z.ZodOptional && (setting.meta()?.condition as Condition | undefined);
    if (!condition || values[name] || unreadable.has(name) || unreadable.has(condition.other)) return [];
    const { other, is } = condition;
    if (is === undefined) return values[other] ? [] : [`${name} is required if ${other} is not set`];
    const given = z.safeParse(shape[other] ?? z.undefined(), values[other]).data;
    return given === is ? [`${name} is required if ${other} is ${is}`] : [];
  });
}

/** Whether a setting is a secret, made by `secret` or `rotatedSecret`. */
export function isSecret(schema: unknown): boolean {
  if (schema instanceof z.ZodOptional) return isSecret(schema.unwrap());
  return schema instanceof z.ZodType && schema.meta()?.secret === true;
}

function readVariableOrFile(name: string, env: NodeJS.ProcessEnv, faults: string[]): string | undefined {
  const file = env[`${name}_FILE`];
  if (!file) return env[name];
  if (env[name]) {
    faults.push(`${name}_FILE and ${name} are both set`);
    return undefined;
  }
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    faults.push(`${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}
