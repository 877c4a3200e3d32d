import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Secret } from './secret.ts';

/** A service's settings, each under the name that the environment has for it. */
export type Settings<S extends z.ZodRawShape> = z.output<z.ZodObject<S>>;

/** Everything that is wrong with the settings, one sentence each; never a value, which may be a secret. */
export class InvalidSettings extends Error {
  override readonly name = 'InvalidSettings';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

interface Bounds {
  readonly default?: number;
  readonly min?: number;
  readonly max?: number;
}

/** A whole number in decimal digits: of bytes, seconds, milliseconds or things, as the setting's name says. */
export function wholeNumber({ default: fallback, min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds) {
  const said = `must be a whole number from ${min} to ${max}`;
  const number = z
    .string('is required')
    .regex(/^\d{1,16}$/, said)
    .transform(Number)
    .refine((value) => value >= min && value <= max, said);
  return fallback === undefined ? number : number.default(fallback);
}

export function port(fallback?: number) {
  return wholeNumber({ ...(fallback === undefined ? {} : { default: fallback }), max: 65_535 });
}

export function text(fallback?: string) {
  const value = z.string('is required');
  return fallback === undefined ? value : value.default(fallback);
}

export function choice<const T extends readonly [string, ...string[]]>(values: T, fallback: T[number]) {
  return z.enum(values, `must be one of ${values.join(', ')}`).default(fallback as never);
}

/** An http(s) address without a slash at its end. */
export function httpAddress(fallback?: string) {
  const address = z
    .url({
      protocol: /^https?$/,
      error: (issue) => (issue.input === undefined ? 'is required' : 'must be an http(s) address'),
    })
    .transform((value) => value.replace(/\/+$/, ''));
  return fallback === undefined ? address : address.default(fallback);
}

/** The address of a host alone, `https://host[:port]`, as browsers spell it: our own paths begin at its root. */
export function httpOrigin(fallback?: string) {
  const origin = httpAddress()
    .refine(isOrigin, 'must be an http(s) address of a host alone, without a path')
    .transform((value) => new URL(value).origin);
  return fallback === undefined ? origin : origin.default(fallback);
}

function isOrigin(value: string): boolean {
  const { href, origin } = new URL(value);
  return href === `${origin}/`;
}

/** Entries between commas; white space around them does not count. */
export function commaSeparated(fallback?: string) {
  const entries = z.string('is required').transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  );
  return fallback === undefined ? entries : entries.prefault(fallback);
}

/** Some of `values` between commas; none unless given. */
export function someOf<const T extends string>(values: readonly T[]) {
  const isOne = (entry: string): entry is T => values.some((value) => value === entry);
  return commaSeparated('')
    .refine((entries) => entries.every(isOne), `must be some of ${values.join(', ')}, between commas`)
    .transform((entries): ReadonlySet<T> => new Set(entries.filter(isOne)));
}

/**
 * A value that never prints; it may also come from the file that `<NAME>_FILE` names. `fault` says what is wrong with a value, if anything,
 * without showing it.
 */
export function secret({
  minLength = 1,
  fault = () => undefined,
}: {
  minLength?: number;
  fault?: (value: string) => string | undefined;
} = {}) {
  return z
    .string('is required')
    .min(minLength, `must have at least ${minLength} characters`)
    .superRefine((value, { addIssue }) => {
      const message = fault(value);
      if (message !== undefined) addIssue({ code: 'custom', message });
    })
    .transform((value) => new Secret(value))
    .meta({ secret: true });
}

/** A secret that is being exchanged: the one in use first, and then one that is still understood, or already. */
export type RotatedSecret = readonly [inUse: Secret, other?: Secret];

/** One secret, or two between commas; like `secret` it may come from a file. */
export function rotatedSecret({ minLength }: { minLength: number }) {
  return z
    .string('is required')
    .transform((value) => value.split(',').map((each) => each.trim()))
    .refine((values) => values.length <= 2, 'must be one secret, or two between commas')
    .refine((values) => new Set(values).size === values.length, 'must not be the same secret twice')
    .refine((values) => values.every((each) => /^[\x20-\x7e]*$/.test(each)), 'must be of ASCII characters')
    .refine((values) => values.every((each) => each.length >= minLength), `must have at least ${minLength} characters`)
    .transform(
      ([inUse = '', other]): RotatedSecret =>
        other === undefined ? [new Secret(inUse)] : [new Secret(inUse), new Secret(other)],
    )
    .meta({ secret: true });
}

interface Condition {
  readonly other: string;
  /** What the other setting must be for this one to be required; undefined: not given at all. */
  readonly is: string | undefined;
}

/** `setting`, which must be given where the setting `other` is `value`, and may be absent else. */
export function requiredWhen<T extends z.ZodType>(other: string, value: string, setting: T) {
  return conditional({ other, is: value }, setting);
}

/** `setting`, which must be given where the setting `other` is not, and may be absent else. */
export function requiredWithout<T extends z.ZodType>(other: string, setting: T) {
  return conditional({ other, is: undefined }, setting);
}

function conditional<T extends z.ZodType>(condition: Condition, setting: T) {
  return setting.optional().meta({ condition });
}

/**
 * Reads the settings that `shape` names. An empty variable counts as absent.
 * @throws InvalidSettings with all faults at once
 */
export function readSettings<S extends z.ZodRawShape>(shape: S, env: NodeJS.ProcessEnv): Settings<S> {
  const faults: string[] = [];
  const values: Record<string, string> = {};
  for (const name of Object.keys(shape)) {
    const value = mayComeFromFile(shape[name]) ? fromVariableOrFile(name, env, faults) : env[name];
    if (value) values[name] = value;
  }
  const misread = new Set(faults.map((fault) => fault.slice(0, fault.indexOf('_FILE'))));
  faults.push(...missingByCondition(shape, values, misread));
  const result = z.object(shape).safeParse(values);
  if (result.success && faults.length === 0) return result.data;
  for (const issue of result.error?.issues ?? []) {
    if (!misread.has(String(issue.path[0]))) faults.push(`${issue.path.join('.')} ${issue.message}`);
  }
  throw new InvalidSettings(faults);
}

function missingByCondition(shape: z.ZodRawShape, values: Record<string, string>, misread: Set<string>): string[] {
  return Object.entries(shape).flatMap(([name, setting]) => {
    const condition = setting instanceof z.ZodOptional && (setting.meta()?.condition as Condition | undefined);
    if (!condition || values[name] || misread.has(name) || misread.has(condition.other)) return [];
    const { other, is } = condition;
    if (is === undefined) return values[other] ? [] : [`${name} is required where ${other} is absent`];
    const given = z.safeParse(shape[other] ?? z.undefined(), values[other]).data;
    return given === is ? [`${name} is required where ${other} is ${is}`] : [];
  });
}

function mayComeFromFile(schema: unknown): boolean {
  if (schema instanceof z.ZodOptional) return mayComeFromFile(schema.unwrap());
  return schema instanceof z.ZodType && schema.meta()?.secret === true;
}

function fromVariableOrFile(name: string, env: NodeJS.ProcessEnv, faults: string[]): string | undefined {
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
