import type { IncomingHttpHeaders } from 'node:http';
import type { Log } from '@echodrop/service/log';
import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import { type BehaviourName, behaviourNames, maxSlowSeconds } from './behaviours.ts';
import { addressOf } from './request-address.ts';

/** The current behaviour. */
export interface BehaviourState {
  behaviour: BehaviourName;
  slowSeconds: number;
}

const form = z.object({
  behaviour: z.enum(behaviourNames),
  // Unchanged if empty.
  seconds: z
    .literal('')
    .transform(() => undefined)
    .or(z.coerce.number().int().min(1).max(maxSlowSeconds))
    .optional(),
});

const refusal =
  `behaviour must be one of ${behaviourNames.join(', ')}; ` +
  `seconds is optional and must be a whole number from 1 to ${maxSlowSeconds}\n`;

/** `POST /behaviour` with a form of `behaviour` and optionally `seconds`, from the sandbox's page or a program. */
export function switchBehaviour(state: BehaviourState, log: Log): RequestHandler[] {
  const change: RequestHandler = (request, response) => {
    const { data } = form.safeParse(request.body);
    if (!data) {
      response.status(400).type('text').send(refusal);
      return;
    }
    const { behaviour, seconds = state.slowSeconds } = data;
    state.behaviour = behaviour;
    state.slowSeconds = seconds;
    log.info({ behaviour, ...(behaviour === 'slow' && { slowSeconds: seconds }) }, 'Sandbox behaviour changed');
    response.redirect(303, '/sandbox');
  };
  return [refuseCrossOrigin(log), express.urlencoded({ extended: false, limit: 1024, parameterLimit: 10 }), change];
}

/** Whether the page at this address may change the sandbox: an IP address, `localhost` or a name without a dot. */
export function canHoldForm({ hostname }: URL): boolean {
  return /^(?:\[.*\]|\d+(?:\.\d+){3}|(?:.+\.)?localhost|[^.]+)$/.test(hostname);
}

function refuseCrossOrigin(log: Log): RequestHandler {
  return (request, response, next) => {
    if (!isCrossOrigin(request.headers, addressOf(response))) return next();
    log.warn('Refused a cross-origin change of behaviour');
    response.status(403).type('text').send('Only a program or the page of the sandbox may do this.\n');
  };
}

/**
 * Whether a browser sends a request for a page of another origin. Other programs send neither header and are allowed. Pages at names with a dot
 * are never allowed: the owner of a name can point it to this machine (DNS rebinding).
 */
function isCrossOrigin(headers: IncomingHttpHeaders, own: URL): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin') return true;
  if (site === undefined && origin === undefined) return false;
  return (origin !== undefined && URL.parse(origin)?.host !== own.host) || !canHoldForm(own);
}
