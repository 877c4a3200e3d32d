import { type ProfileName, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import type { ProofFault } from './check-proof.ts';
import type { SandboxProfile } from './profiles.ts';

export const maxSlowSeconds = 120;

/** A response of a provider. A body that is a string is sent as it is, and any other one as JSON. */
export interface ProviderResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Readonly<Record<string, unknown>>;
}

export interface Behaviour {
  /** A predicate of "it" for the page. */
  readonly does: string;
  /** The error of its clock. */
  readonly clockSeconds?: number;
  readonly isSlow?: true;
  /** How the response is incomplete. */
  readonly ends?: 'before-it-begins' | 'cut-off' | 'never';
  /** Replaces the correct response. */
  readonly respond?: (
    correct: ProviderResponse,
    profile: ProfileName,
    proof: SandboxProfile['proof'],
  ) => ProviderResponse;
}

const retryLater = { 'Retry-After': '30' };

const table = {
  normal: { does: 'responds like the real provider' },
  slow: { does: 'responds late', isSlow: true },
  down: { does: 'closes the connection without a response', ends: 'before-it-begins' },
  'cut-off': { does: 'closes the connection in the middle of the response', ends: 'cut-off' },
  endless: { does: 'never completes its response', ends: 'never' },
  unavailable: {
    does: 'responds 503',
    respond: () => ({ status: 503, headers: retryLater, body: { error: 'Service unavailable' } }),
  },
  'too-many': {
    does: 'responds 429 with Retry-After: 30',
    respond: () => ({ status: 429, headers: retryLater, body: { error: 'Too many requests' } }),
  },
  refusing: {
    does: 'refuses every user',
    respond: (_correct, _profile, proof) => refusalOf(proof, 'unknown_credentials'),
  },
  redirect: {
    does: 'redirects every request',
    respond: () => ({ status: 302, headers: { Location: '/' }, body: {} }),
  },
  html: {
    does: 'responds 200 with an HTML page',
    respond: () => ({
      status: 200,
      headers: { 'Content-Type': 'text/html; charset=utf-8' },
      body: '<!doctype html><title>Down for maintenance</title><h1>We will be back soon</h1>',
    }),
  },
  'broken-json': {
    does: 'omits the end of its JSON',
    respond: (correct) => ({ ...correct, body: JSON.stringify(correct.body).slice(0, -1) }),
  },
  'no-id': {
    does: "omits the user's id",
    respond: (correct, profile) => without(providerProfiles[profile].subject, correct),
  },
  'no-name': {
    does: "omits the user's name",
    respond: (correct, profile) => without([providerProfiles[profile].screenName], correct),
  },
  'too-large': {
    does: 'responds with a megabyte of extra data',
    respond: (correct) => ({ ...correct, body: { ...Object(correct.body), more: 'x'.repeat(1024 * 1024) } }),
  },
  'wrong-clock': { does: 'has a clock that is an hour behind', clockSeconds: -3600 },
} as const satisfies Record<string, Behaviour>;

export type BehaviourName = keyof typeof table;

/** What the sandbox can do with a request. It checks the proof in every case. */
export const behaviours: Readonly<Record<BehaviourName, Behaviour>> = table;

export const behaviourNames = Object.keys(table) as [BehaviourName, ...BehaviourName[]];

function without(names: readonly string[], { body, ...response }: ProviderResponse): ProviderResponse {
  return { ...response, body: Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))) };
}

/** The response to a request whose proof has this fault, or is none of a user. */
export function refusalOf(proof: SandboxProfile['proof'], fault: ProofFault): ProviderResponse {
  const challenge = proof === 'signature' ? 'OAuth realm="sandbox"' : 'Bearer realm="sandbox", error="invalid_token"';
  const body = { error: 'invalid_token', error_description: fault };
  return { status: 401, headers: { 'WWW-Authenticate': challenge }, body };
}
