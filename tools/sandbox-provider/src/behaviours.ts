import type { ProviderProfile } from '@echodrop/identity-provider/provider-profiles';
import type { ProviderResponse } from './profiles/profile.ts';

export const maxSlowSeconds = 120;

/** The response as it is sent. */
export interface Delivery {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly afterSeconds?: number;
  /** How it is incomplete: closed before the first byte, closed in the middle of the body, or never completed. */
  readonly ends?: 'before-it-begins' | 'cut-off' | 'never';
}

interface Circumstances {
  readonly profile: Pick<ProviderProfile, 'subject' | 'screenName'>;
  /** The profile's refusal of an unknown user. */
  readonly unknown: ProviderResponse;
  readonly slowSeconds: number;
}

interface Behaviour {
  /** A predicate of "it" for the page. */
  readonly does: string;
  /** The error of its clock. */
  readonly clockSeconds?: number;
  /** Turns the correct response into the one that is sent. */
  readonly deliver: (response: ProviderResponse, circumstances: Circumstances) => Delivery;
}

const table = {
  normal: { does: 'responds like the real provider', deliver: whole },
  slow: {
    does: 'responds late',
    deliver: (response, { slowSeconds }) => ({ ...whole(response), afterSeconds: slowSeconds }),
  },
  down: {
    does: 'closes the connection without a response',
    deliver: (response) => ({ ...whole(response), ends: 'before-it-begins' }),
  },
  'cut-off': {
    does: 'closes the connection in the middle of the response',
    deliver: (response) => ({ ...whole(response), ends: 'cut-off' }),
  },
  endless: { does: 'never completes its response', deliver: (response) => ({ ...whole(response), ends: 'never' }) },
  unavailable: {
    does: 'responds 503',
    deliver: () => whole({ status: 503, headers: { 'Retry-After': '30' }, body: { error: 'Service unavailable' } }),
  },
  'too-many': {
    does: 'responds 429 with Retry-After: 30',
    deliver: () => whole({ status: 429, headers: { 'Retry-After': '30' }, body: { error: 'Too many requests' } }),
  },
  refusing: { does: 'refuses every user', deliver: (_response, { unknown }) => whole(unknown) },
  redirect: {
    does: 'redirects every request',
    deliver: () => whole({ status: 302, headers: { Location: '/' }, body: {} }),
  },
  html: {
    does: 'responds 200 with an HTML page',
    deliver: () => ({
      status: 200,
      headers: { 'Content-Type': 'text/html; charset=utf-8' },
      body: '<!doctype html><title>Down for maintenance</title><h1>We will be back soon</h1>',
    }),
  },
  'broken-json': {
    does: 'omits the end of its JSON',
    deliver: (response) => ({ ...whole(response), body: whole(response).body.slice(0, -1) }),
  },
  'no-id': {
    does: "omits the user's id",
    deliver: (response, { profile }) => whole(without(profile.subject, response)),
  },
  'no-name': {
    does: "omits the user's name",
    deliver: (response, { profile }) => whole(without([profile.screenName], response)),
  },
  'too-large': {
    does: 'responds with a megabyte of extra data',
    deliver: (response) => whole({ ...response, body: { ...response.body, more: 'x'.repeat(1024 * 1024) } }),
  },
  'wrong-clock': { does: 'has a clock that is an hour behind', clockSeconds: -3600, deliver: whole },
} as const satisfies Record<string, Behaviour>;

export type BehaviourName = keyof typeof table;

/** What the sandbox can do with a request. It checks the proof in every case. */
export const behaviours: Readonly<Record<BehaviourName, Behaviour>> = table;

export const behaviourNames = Object.keys(table) as [BehaviourName, ...BehaviourName[]];

function whole({ status, headers, body }: ProviderResponse): Delivery {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  };
}

function without(names: readonly string[], { body, ...response }: ProviderResponse): ProviderResponse {
  return { ...response, body: Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))) };
}
