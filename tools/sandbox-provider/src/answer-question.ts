import { type ProfileName, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import type { RequestHandler } from 'express';
import { behaviours } from './behaviours.ts';
import type { BearerCheck } from './check-bearer.ts';
import type { SignatureCheck } from './check-signature.ts';
import { deliver } from './deliver.ts';
import type { SandboxEvents } from './events.ts';
import { sandboxProfiles } from './profiles/profiles.ts';
import { addressOf } from './require-address.ts';
import type { Switch } from './switch-behaviour.ts';

export interface AnswerParts {
  readonly checks: { readonly signature: SignatureCheck; readonly bearer: BearerCheck };
  readonly state: Switch;
  readonly events: SandboxEvents;
}

/** Who the user of a request is, as `name` says it: their proof -> what a sound provider would say -> how the sandbox behaves. */
export function answerQuestion(name: ProfileName, { checks, state, events }: AnswerParts): RequestHandler {
  const { proof, user, refusals } = sandboxProfiles[name];
  return async ({ method, headers: { authorization } }, response) => {
    const { behaviour, slowSeconds } = state;
    const { clockSeconds = 0, deliver: make } = behaviours[behaviour];
    const now = new Date(Date.now() + clockSeconds * 1000);
    const url = addressOf(response);

    const found = checks[proof].check({ method, url, authorization, nowSeconds: now.getTime() / 1000 });
    const isFault = typeof found === 'string';
    events.answered({ profile: name, outcome: isFault ? found : 'verified', behaviour });

    const answer = isFault ? (refusals[found] ?? refusals.unknown) : { status: 200, body: user(found, url) };
    const { unknown } = refusals;
    await deliver(response, make(answer, { profile: providerProfiles[name], unknown, slowSeconds }), now);
  };
}
