import { pino } from 'pino';

export type Log = pino.Logger;

// The names under which a credential could reach a log by mistake; what is meant to be logged has other names.
const credentialNames = [
  'authorization',
  'cookie',
  'x-verify-credentials-authorization',
  'consumerToken',
  'consumerSecret',
  'oauthToken',
  'oauthSecret',
  'key',
  'password',
];

/** A log of one JSON object a line on standard output; `service` is on every line. */
export function createLog(service: string, level: string): Log {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: credentialNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
      censor: '[secret]',
    },
  });
}
