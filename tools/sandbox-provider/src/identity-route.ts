import { type ProfileName, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import type { RequestHandler } from 'express';
import { applyBehaviour, behaviours } from './behaviours.ts';
import type { ProofCheck } from './check-proof.ts';
import { deliver } from './deliver.ts';
import type { SandboxEvents } from './events.ts';
import type { SandboxProfile } from './profiles/profile.ts';
import { sandboxProfiles } from './profiles/profiles.ts';
import { addressOf } from './request-address.ts';
import type { BehaviourState } from './switch-behaviour.ts';

interface Dependencies {
  readonly checks: Readonly<Record<SandboxProfile['proof'], ProofCheck>>;
  readonly state: BehaviourState;
  readonly events: SandboxEvents;
}

/** Identifies the user of a request like the profile `name`: checks the proof, makes the correct response, and applies the behaviour. */
export function identityRoute(name: ProfileName, { checks, state, events }: Dependencies): RequestHandler {
  const { proof, user, refusals } = sandboxProfiles[name];
  return async ({ method, headers: { authorization } }, response) => {
    const { behaviour, slowSeconds } = state;
    const now = new Date(Date.now() + (behaviours[behaviour].clockSeconds ?? 0) * 1000);
    const url = addressOf(response);

    const found = checks[proof]({ method, url, authorization, nowSeconds: now.getTime() / 1000 });
    const isFault = typeof found === 'string';
    events.answered({ profile: name, outcome: isFault ? found : 'verified', behaviour });

    const correct = isFault ? (refusals[found] ?? refusals.unknown) : { status: 200, body: user(found, url) };
    const circumstances = { profile: providerProfiles[name], unknown: refusals.unknown, slowSeconds };
    await deliver(response, applyBehaviour(behaviour, correct, circumstances), now);
  };
}
