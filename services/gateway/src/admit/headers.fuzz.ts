import { isIP } from 'node:net';
import { MIMEType } from 'node:util';
import { anyHeader } from '@echodrop/testkit/fuzz/any-header';
import { fuzz } from '@echodrop/testkit/fuzz/fuzz';
import fc from 'fast-check';
import { expect } from 'vitest';
import { boundaryOf } from '../receive/receive-form.ts';
import { Refusal } from '../response/refusal-error.ts';
import { fieldsOf, keptMetadata, parseMetadata, prefersRepresentation } from '../resumable/tus-headers.ts';
import { clientOf } from './client-of.fixture.ts';
import { credentialsFromHeaders } from './credentials.ts';

const provider = 'https://identity.example/verify.json';
const words = [
  ...['OAuth a="b"', 'Bearer ', 'bearer\t', 'Basic ', provider, `"${provider}"`, `${provider}/`, 'null', '__proto__'],
  ...[
    '203.0.113.8',
    '[2001:db8::1]:443',
    '::ffff:1.2.3.4',
    'fe80::1%eth0',
    '10.0.0.1:80',
    '999.1.1.1',
    '[::',
    'unknown',
    '::',
  ],
  ...[
    'key c2FuZGJveA==',
    'message w7Y=',
    'media',
    'alt /w==',
    'filename ',
    '====',
    'a b c',
    'key c2Fu ZGJ',
    'key c2Fu',
  ],
  ...[
    'multipart/form-data',
    'Multipart/Form-Data',
    '; boundary=',
    '; BOUNDARY="',
    '; charset=utf-8',
    '; x=";',
    'x'.repeat(71),
  ],
  ...['return=representation', 'return="minimal"', 'respond-async', 'return', 'RETURN = '],
];
const cases = fc.record({ header: anyHeader(words), other: anyHeader(words), isHistoric: fc.boolean() });

fuzz('every header is read or refused with a reason', cases, async ({ header, other, isHistoric }) => {
  expect(isIP(clientOf(header) ?? '')).toBeGreaterThan(0);
  await expectCredentials(header, other, isHistoric);
  expectMetadata(header);
  expectBoundary(header);
  prefersRepresentation(header);
});

async function expectCredentials(header: string, other: string, isHistoric: boolean): Promise<void> {
  const verifier = { knownProviders: async () => [provider] };
  const compatibility = isHistoric ? 'historic' : 'strict';
  for (const headers of [
    { authorization: header, 'x-auth-service-provider': other },
    { 'x-verify-credentials-authorization': header, 'x-auth-service-provider': other },
    { 'x-verify-credentials-authorization': header, authorization: other },
  ]) {
    const credentials = await refusalOr(() => credentialsFromHeaders(headers, verifier, compatibility));
    if (credentials instanceof Refusal)
      expect(credentials.reason).toMatch(/^(credentials_missing|provider_unknown|request_malformed)$/);
    else expect([undefined, provider]).toContain(credentials.provider);
  }
}

function expectMetadata(header: string): void {
  try {
    const metadata = parseMetadata(header);
    const kept = keptMetadata(metadata);
    if (kept !== '') expect(keptMetadata(parseMetadata(kept))).toBe(kept);
    for (const [name, text] of fieldsOf(metadata)) {
      expect(name).toMatch(/^(key|message|alt|(consumer|oauth)_(token|secret))$/);
      expect(text.toWellFormed()).toBe(text);
    }
  } catch (error) {
    expectRefusal(error, 'tus_malformed');
  }
}

function expectBoundary(header: string): void {
  try {
    const boundary = boundaryOf(header);
    expect(boundary).toMatch(/^[\x20-\x7e]{0,69}[\x21-\x7e]$/);
    const other = typeOf(header);
    // It reads only the first of two, and needs quotes where clients leave them out.
    if (other?.includes('boundary=')) expect(other).toBe(boundary);
  } catch (error) {
    expectRefusal(error, 'form_malformed');
  }
}

function typeOf(header: string): string | undefined {
  try {
    return new MIMEType(header).params.get('boundary') ?? undefined;
  } catch {
    return undefined;
  }
}

function expectRefusal(error: unknown, reason: string): void {
  if (!(error instanceof Refusal)) throw error;
  expect(error.reason).toBe(reason);
  expect(error.sentence).toMatch(/^[A-Z][\x20-\x7e]{10,300}\.$/);
}

async function refusalOr<T>(run: () => Promise<T>): Promise<T | Refusal> {
  return run().catch((error) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
}
