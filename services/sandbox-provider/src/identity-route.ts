import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProfileName } from '@echodrop/identity-provider/provider-profiles';
import type { Log } from '@echodrop/service/log';
import type { RequestHandler } from 'express';
import { type Behaviour, behaviours, maxSlowSeconds, type ProviderResponse, refusalOf } from './behaviours.ts';
import type { ProofCheck } from './check-proof.ts';
import { type SandboxProfile, sandboxProfiles } from './profiles.ts';
import { addressOf } from './request-address.ts';
import type { BehaviourState } from './switch-behaviour.ts';

const dripMs = 500;

interface Dependencies {
  readonly checks: Readonly<Record<SandboxProfile['proof'], ProofCheck>>;
  readonly state: BehaviourState;
  readonly log: Log;
}

/** Identifies the user of a request like the profile `name`: checks the proof, makes the correct response, and applies the behaviour. */
export function identityRoute(name: ProfileName, { checks, state, log }: Dependencies): RequestHandler {
  const { proof, user } = sandboxProfiles[name];
  return async ({ method, headers: { authorization } }, response) => {
    const { behaviour, slowSeconds } = state;
    const { clockSeconds = 0, isSlow, ends, respond } = behaviours[behaviour];
    const date = new Date(Date.now() + clockSeconds * 1000);
    const url = addressOf(response);

    const found = checks[proof]({ method, url, authorization, nowSeconds: date.getTime() / 1000 });
    const isFault = typeof found === 'string';
    log.info({ profile: name, proof: isFault ? found : 'valid', behaviour }, 'Identity request received');

    const correct = isFault ? refusalOf(proof, found) : { status: 200, body: user(found, url) };
    const sent = respond?.(correct, name, proof) ?? correct;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    try {
      if (isSlow) await sleep(slowSeconds * 1000, undefined, { signal: gone.signal });
      await send(response, { ...sent, date, ends }, gone.signal);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    }
  };
}

interface Sent extends ProviderResponse {
  /** The time by the sandbox's clock. */
  readonly date: Date;
  readonly ends: Behaviour['ends'];
}

/** Sends a response with its flaws until the reader leaves. */
async function send(response: ServerResponse, { status, headers, body, date, ends }: Sent, gone: AbortSignal) {
  if (ends === 'before-it-begins') return void response.destroy();
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const length = ends === 'never' ? {} : { 'Content-Length': bytes.length };
  const type = { 'Content-Type': 'application/json; charset=utf-8' };
  response.writeHead(status, { ...type, ...headers, ...length, Date: date.toUTCString() });
  if (!ends) return void response.end(bytes);
  await new Promise((resolve) => response.write(bytes.subarray(0, bytes.length / 2), resolve));
  if (ends === 'never') await drip(response, gone);
  response.destroy();
}

/** Keeps the connection alive with white space, so that only a limit on the whole response ends it. */
async function drip(response: ServerResponse, gone: AbortSignal): Promise<void> {
  for (let ms = 0; ms < maxSlowSeconds * 1000; ms += dripMs) {
    await sleep(dripMs, undefined, { signal: gone });
    response.write(' ');
  }
}
