import type { ProviderProfile } from '@echodrop/identity-provider/provider-profiles';
import type { Answer } from './profiles/profile.ts';

/** The longest that the sandbox keeps anybody waiting. */
export const largestWaitSeconds = 120;

/** What really goes over the wire. */
export interface Delivery {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly afterSeconds?: number;
  /** Where it stops short of that: before the first byte, or in the middle of the body, closing the connection or never. */
  readonly ends?: 'before-it-begins' | 'cut-off' | 'never';
}

interface Circumstances {
  readonly profile: Pick<ProviderProfile, 'subject' | 'screenName'>;
  /** What the profile says to a user whom it does not know. */
  readonly unknown: Answer;
  readonly slowSeconds: number;
}

interface Behaviour {
  /** What the sandbox does, as its page says it. */
  readonly does: string;
  /** How far its clock is off. */
  readonly clockSeconds?: number;
  /** Makes what is delivered from what a sound provider would say. */
  readonly deliver: (answer: Answer, circumstances: Circumstances) => Delivery;
}

const table = {
  normal: { does: 'answers as the real one does', deliver: whole },
  slow: {
    does: 'answers late',
    deliver: (answer, { slowSeconds }) => ({ ...whole(answer), afterSeconds: slowSeconds }),
  },
  down: {
    does: 'closes the connection without an answer',
    deliver: (answer) => ({ ...whole(answer), ends: 'before-it-begins' }),
  },
  'cut-off': {
    does: 'closes the connection in the middle of its answer',
    deliver: (answer) => ({ ...whole(answer), ends: 'cut-off' }),
  },
  endless: { does: 'never ends its answer', deliver: (answer) => ({ ...whole(answer), ends: 'never' }) },
  unavailable: {
    does: 'says 503',
    deliver: () => whole({ status: 503, headers: { 'Retry-After': '30' }, body: { error: 'Service unavailable' } }),
  },
  'too-many': {
    does: 'says 429, and to come again in 30 seconds',
    deliver: () => whole({ status: 429, headers: { 'Retry-After': '30' }, body: { error: 'Too many requests' } }),
  },
  refusing: { does: 'knows nobody any more', deliver: (_answer, { unknown }) => whole(unknown) },
  redirect: {
    does: 'sends everybody to another page',
    deliver: () => whole({ status: 302, headers: { Location: '/' }, body: {} }),
  },
  html: {
    does: 'says 200 with a page in HTML',
    deliver: () => ({
      status: 200,
      headers: { 'Content-Type': 'text/html; charset=utf-8' },
      body: '<!doctype html><title>Down for maintenance</title><h1>We will be back soon</h1>',
    }),
  },
  'broken-json': {
    does: 'leaves out the end of its JSON',
    deliver: (answer) => ({ ...whole(answer), body: whole(answer).body.slice(0, -1) }),
  },
  'no-id': {
    does: "leaves out the user's id",
    deliver: (answer, { profile }) => whole(without(profile.subject, answer)),
  },
  'no-name': {
    does: "leaves out the user's name",
    deliver: (answer, { profile }) => whole(without([profile.screenName], answer)),
  },
  'too-large': {
    does: 'says a megabyte more than it has to',
    deliver: (answer) => whole({ ...answer, body: { ...answer.body, more: 'x'.repeat(1024 * 1024) } }),
  },
  'wrong-clock': { does: 'has a clock that is an hour behind', clockSeconds: -3600, deliver: whole },
} as const satisfies Record<string, Behaviour>;

export type BehaviourName = keyof typeof table;

/** All that the sandbox can be told to do with questions; whether their proof is good, it looks at each time. */
export const behaviours: Readonly<Record<BehaviourName, Behaviour>> = table;

export const behaviourNames = Object.keys(table) as [BehaviourName, ...BehaviourName[]];

function whole({ status, headers, body }: Answer): Delivery {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  };
}

function without(names: readonly string[], { body, ...answer }: Answer): Answer {
  return { ...answer, body: Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))) };
}
