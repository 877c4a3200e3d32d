import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProfileName, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import type { RequestHandler } from 'express';
import { applyBehaviour, behaviours, type Delivery, maxSlowSeconds } from './behaviours.ts';
import type { ProofCheck } from './check-proof.ts';
import type { SandboxEvents } from './events.ts';
import type { SandboxProfile } from './profiles/profile.ts';
import { sandboxProfiles } from './profiles/profiles.ts';
import { addressOf } from './request-address.ts';
import type { BehaviourState } from './switch-behaviour.ts';

const dripMs = 500;

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
    events.identityRequested({ profile: name, proof: isFault ? found : 'valid', behaviour });

    const correct = isFault ? (refusals[found] ?? refusals.unknown) : { status: 200, body: user(found, url) };
    const circumstances = { profile: providerProfiles[name], unknown: refusals.unknown, slowSeconds };
    await deliver(response, applyBehaviour(behaviour, correct, circumstances), now);
  };
}

/** Sends a response with its flaws until the reader leaves. `date` is the time by the sandbox's clock. */
async function deliver(response: ServerResponse, delivery: Delivery, date: Date): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    await send(response, delivery, date, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

async function send(response: ServerResponse, delivery: Delivery, date: Date, gone: AbortSignal): Promise<void> {
  const { status, headers, afterSeconds, ends } = delivery;
  if (afterSeconds > 0) await sleep(afterSeconds * 1000, undefined, { signal: gone });
  if (ends === 'before-it-begins') return void response.destroy();
  const body = Buffer.from(delivery.body);
  const length = ends === 'never' ? {} : { 'Content-Length': body.length };
  response.writeHead(status, { ...headers, ...length, Date: date.toUTCString() });
  if (!ends) return void response.end(body);
  const { promise: isSent, resolve } = Promise.withResolvers<void>();
  response.write(body.subarray(0, body.length / 2), () => resolve());
  await (ends === 'never' ? drip(response, gone) : isSent);
  response.destroy();
}

/** Keeps the connection alive with white space, so that only a limit on the whole response ends it. */
async function drip(response: ServerResponse, gone: AbortSignal): Promise<void> {
  for (let ms = 0; ms < maxSlowSeconds * 1000; ms += dripMs) {
    await sleep(dripMs, undefined, { signal: gone });
    response.write(' ');
  }
}
