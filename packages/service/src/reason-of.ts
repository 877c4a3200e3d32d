import { unescape as percentDecode } from 'node:querystring';
import { Secret } from './secret.ts';
import { escapeLine, shorten } from './terminal-text.ts';

const maxCharacters = 500;
const maxCauses = 3;
// A peer may cut the text that it repeats.
const prefixCharacters = 16;

/**
 * Why something failed, in one line for a log or a response. Parts of it may come from outside: unsafe characters are escaped, `secrets` are `[secret]`, and it is
 * cut to 500 characters.
 */
export function reasonOf(error: unknown, secrets: readonly Secret[] = []): string {
  const text = redact(messagesOf(error).join(': ') || 'unknown', secrets);
  return escapeLine(shorten(text, maxCharacters));
}

/** All secrets in settings. */
export function secretsIn(settings: unknown): Secret[] {
  if (settings instanceof Secret) return [settings];
  return typeof settings === 'object' && settings !== null ? Object.values(settings).flatMap(secretsIn) : [];
}

function messagesOf(error: unknown): string[] {
  const messages: string[] = [];
  for (let next = error; next instanceof Error && messages.length < maxCauses; next = next.cause) {
    const message = messageOf(next);
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message);
  }
  return messages;
}

// The error of a connection that failed on several addresses has no message.
function messageOf(error: Error & { readonly code?: unknown }): string {
  // Messages of these errors quote what could not be read.
  if (error instanceof SyntaxError) return 'invalid JSON';
  if (error.name === 'ZodError' || error.name === '$ZodError') return 'unexpected content';
  const code = typeof error.code === 'string' ? error.code : '';
  // OpenSSL's own words are several lines for its developers.
  if (code.startsWith('ERR_SSL_')) return code;
  return error.message.includes(code) ? error.message : [code, error.message].filter(Boolean).join(': ');
}

function redact(text: string, secrets: readonly Secret[]): string {
  const values = secrets.flatMap(valuesOf).sort((one, other) => other.length - one.length);
  const redacted = values.reduce((rest, value) => rest.replaceAll(value, '[secret]'), text);
  const prefixes = values
    .filter(({ length }) => length > prefixCharacters)
    .map((value) => value.slice(0, prefixCharacters));
  return prefixes.reduce((rest, prefix) => {
    const at = rest.indexOf(prefix);
    return at < 0 ? rest : `${rest.slice(0, at)}[secret]`;
  }, redacted);
}

/** A secret's value and, if it is an address, its password: as written there, and decoded. */
function valuesOf(secret: Secret): string[] {
  const value = secret.reveal();
  const [, password = ''] = /^[a-z+]+:\/\/[^/@:]*:([^/@]*)@/.exec(value) ?? [];
  return [value, password, percentDecode(password)].filter((each) => each !== '');
}
