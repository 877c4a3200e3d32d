import { pino } from 'pino';
import { traceOfLine } from './trace.ts';

export type Log = pino.Logger;

// The names under which a credential could reach a log by mistake; what is meant to be logged has other names.
const credentialNames = [
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
];

/** A log of one JSON object a line on standard output; `service` is on every line, `trace_id` on every one that a request or a job has caused. */
export function createLog(service: string, level: string): Log {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    mixin: traceOfLine,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: credentialNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
      censor: '[secret]',
    },
  };
  // Written at once: the lines that a process ends with must neither be lost nor change places.
  return pino(options, pino.destination({ dest: 1, sync: true }));
}
