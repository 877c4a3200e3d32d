import type { ProviderProfile } from '@echodrop/identity-provider/provider-profiles';
import type { ProviderResponse } from './profiles/profile.ts';

export const maxSlowSeconds = 120;

/** The response as it is sent. */
export interface Delivery {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly afterSeconds: number;
  /** How it is incomplete: closed before the first byte, closed in the middle of the body, or never completed. */
  readonly ends: Behaviour['ends'];
}

interface Circumstances {
  readonly profile: Pick<ProviderProfile, 'subject' | 'screenName'>;
  /** The profile's refusal of an unknown user. */
  readonly unknown: ProviderResponse;
  readonly slowSeconds: number;
}

type Response = Omit<ProviderResponse, 'body'> & { readonly body: ProviderResponse['body'] | string };

interface Behaviour {
  /** A predicate of "it" for the page. */
  readonly does: string;
  /** The error of its clock. */
  readonly clockSeconds?: number;
  readonly isSlow?: true;
  readonly ends?: 'before-it-begins' | 'cut-off' | 'never';
  /** Replaces the correct response. */
  readonly respond?: (correct: ProviderResponse, circumstances: Circumstances) => Response;
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
  refusing: { does: 'refuses every user', respond: (_correct, { unknown }) => unknown },
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
  'no-id': { does: "omits the user's id", respond: (correct, { profile }) => without(profile.subject, correct) },
  'no-name': {
    does: "omits the user's name",
    respond: (correct, { profile }) => without([profile.screenName], correct),
  },
  'too-large': {
    does: 'responds with a megabyte of extra data',
    respond: (correct) => ({ ...correct, body: { ...correct.body, more: 'x'.repeat(1024 * 1024) } }),
  },
  'wrong-clock': { does: 'has a clock that is an hour behind', clockSeconds: -3600 },
} as const satisfies Record<string, Behaviour>;

export type BehaviourName = keyof typeof table;

/** What the sandbox can do with a request. It checks the proof in every case. */
export const behaviours: Readonly<Record<BehaviourName, Behaviour>> = table;

export const behaviourNames = Object.keys(table) as [BehaviourName, ...BehaviourName[]];

/** Turns the correct response into the one that a behaviour sends. */
export function applyBehaviour(name: BehaviourName, correct: ProviderResponse, circumstances: Circumstances): Delivery {
  const { isSlow, ends, respond } = behaviours[name];
  const { status, headers, body } = respond?.(correct, circumstances) ?? correct;
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    afterSeconds: isSlow ? circumstances.slowSeconds : 0,
    ends,
  };
}

function without(names: readonly string[], { body, ...response }: ProviderResponse): ProviderResponse {
  return { ...response, body: Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))) };
}
