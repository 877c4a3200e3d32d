import { pino } from 'pino';
import { escapeLines } from './terminal-text.ts';
import { traceLogFields } from './tracing/trace.ts';

export type Log = pino.Logger;

// Field names that may hold a credential. Fields that are logged on purpose have other names.
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
// Credentials are searched in so many levels of nesting.
const maxDepth = 3;
// The longest value: clients choose some values, and must not push the lines of others out of a bounded log.
const maxCharacters = 1024;
const maxStackCharacters = 8192;

/**
 * Logs JSON lines to standard output, with `service`, and `trace_id` while a request or a job runs. Redacts credentials in the fields of a line,
 * but not in those of a child logger. Cuts long values, and escapes what a terminal could obey.
 */
export function createLog(service: string, level: string): Log {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    mixin: traceLogFields,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label) => ({ level: label }),
      log: (line) => redact(line, maxDepth),
    },
    hooks: { streamWrite: escapeLines },
    serializers: {
      err: (error: unknown) => {
        const fields: unknown = pino.stdSerializers.err(error as Error);
        return isObject(fields) ? redact(fields, maxDepth - 1) : fields;
      },
    },
  };
  // Writes are synchronous, so that the last lines of a process are neither lost nor reordered.
  return pino(options, pino.destination({ dest: 1, sync: true }));
}

// Pino's `redact` takes twenty times as long as the rest of a line. This function copies only objects with a credential or a long value.
function redact<T extends object>(line: T, depth: number): T {
  if ('toJSON' in line) return line;
  let redacted = line;
  for (const [name, value] of Object.entries(line)) {
    const safe = credentialNames.has(name) ? '[secret]' : redactNested(name, value, depth - 1);
    if (safe === value) continue;
    if (redacted === line) redacted = (Array.isArray(line) ? [...line] : { ...line }) as T;
    Object.assign(redacted, { [name]: safe });
  }
  return redacted;
}

function redactNested(name: string, value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(value, name === 'stack' ? maxStackCharacters : maxCharacters);
  // The serializer redacts an error later.
  const isSerialized = name === 'err' && value instanceof Error;
  return depth > 0 && isObject(value) && !isSerialized ? redact(value, depth) : value;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}...` : text;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
