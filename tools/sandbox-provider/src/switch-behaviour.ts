import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import { type BehaviourName, behaviourNames, largestWaitSeconds } from './behaviours.ts';
import type { SandboxEvents } from './events.ts';
import { isFromElsewhere } from './from-elsewhere.ts';
import { addressOf } from './require-address.ts';

/** How the sandbox behaves now. */
export interface Switch {
  behaviour: BehaviourName;
  slowSeconds: number;
}

const form = z.object({
  behaviour: z.enum(behaviourNames),
  // What a form leaves empty stays as it is.
  seconds: z
    .literal('')
    .transform(() => undefined)
    .or(z.coerce.number().int().min(1).max(largestWaitSeconds))
    .optional(),
});

const told =
  `behaviour must be one of ${behaviourNames.join(', ')}; ` +
  `seconds, if any, a whole number from 1 to ${largestWaitSeconds}\n`;

/** `POST /behaviour` with a form of `behaviour` and, if wanted, `seconds`, from the sandbox's own page or a program. */
export function switchBehaviour(state: Switch, events: SandboxEvents): RequestHandler[] {
  const change: RequestHandler = (request, response) => {
    const asked = form.safeParse(request.body);
    if (!asked.success) {
      response.status(400).type('text').send(told);
      return;
    }
    const { behaviour, seconds = state.slowSeconds } = asked.data;
    state.behaviour = behaviour;
    state.slowSeconds = seconds;
    events.behaviourChanged(behaviour, seconds);
    response.redirect(303, '/');
  };
  return [onlyFromHere(events), express.urlencoded({ extended: false, limit: 1024, parameterLimit: 10 }), change];
}

function onlyFromHere(events: SandboxEvents): RequestHandler {
  return (request, response, next) => {
    if (!isFromElsewhere(request.headers, addressOf(response))) return next();
    events.crossOriginRefused();
    response.status(403).type('text').send('only the page of the sandbox itself may do this, or a program\n');
  };
}
