import { pino } from 'pino';
import { traceLogFields } from './tracing/trace.ts';

export type Log = pino.Logger;

// The names under which a credential could reach a log by mistake; what is meant to be logged has other names.
const credentialNames = new Set([
  'authorization',
  'Authorization',
  'cookie',
  'x-verify-credentials-authorization',
  'consumerToken',
  'consumerSecret',
  'oauthToken',
  'oauthSecret',
  'consumer_token',
  'consumer_secret',
  'oauth_token',
  'oauth_secret',
  'key',
  'password',
]);
// How deep in a line they are looked for.
const deepest = 3;

/**
 * A log of one JSON object a line on standard output; `service` is on every line, `trace_id` on every one that a request or a job has caused.
 * Credentials are struck out of what lines are given, not of what a child log is.
 */
export function createLog(service: string, level: string): Log {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    mixin: traceLogFields,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label) => ({ level: label }),
      log: (line) => withoutCredentials(line, deepest),
    },
    serializers: {
      err: (error: unknown) => {
        const told: unknown = pino.stdSerializers.err(error as Error);
        return isObject(told) ? withoutCredentials(told, deepest - 1) : told;
      },
    },
  };
  // Written at once: the lines that a process ends with must neither be lost nor change places.
  return pino(options, pino.destination({ dest: 1, sync: true }));
}

// Not pino's `redact`, which takes twenty times as long as all else of a line. What holds no credential is not copied.
function withoutCredentials<T extends object>(line: T, depth: number): T {
  if ('toJSON' in line) return line;
  let told = line;
  for (const [name, value] of Object.entries(line)) {
    const safe = credentialNames.has(name) ? '[secret]' : withoutDeeper(name, value, depth - 1);
    if (safe === value) continue;
    if (told === line) told = (Array.isArray(line) ? [...line] : { ...line }) as T;
    Object.assign(told, { [name]: safe });
  }
  return told;
}

function withoutDeeper(name: string, value: unknown, depth: number): unknown {
  // Its serializer has its turn later.
  const isSerialized = name === 'err' && value instanceof Error;
  return depth > 0 && isObject(value) && !isSerialized ? withoutCredentials(value, depth) : value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
