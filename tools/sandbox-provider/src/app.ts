import { readFileSync } from 'node:fs';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { createBearerCheck, createSignatureCheck } from './check-proof.ts';
import { credentialsPage } from './credentials-page.ts';
import type { SandboxEvents } from './events.ts';
import { identityRoute } from './identity-route.ts';
import { profileEntries } from './profiles/profiles.ts';
import { notAllowed, refuse } from './refuse.ts';
import { addressOf, requireAddress } from './request-address.ts';
import { Grants } from './sign-in/grants.ts';
import { signInRoutes } from './sign-in/sign-in-routes.ts';
import { type BehaviourState, switchBehaviour } from './switch-behaviour.ts';
import type { Accounts } from './users.ts';

interface SandboxOptions {
  readonly accounts: Accounts;
  /** The name of the public client. */
  readonly siteName: string;
  /** The initial behaviour. */
  readonly behaviour: Readonly<BehaviourState>;
  readonly events: SandboxEvents;
}

/** The routes of the sandbox: an endpoint for each profile, signing in, and a page with credentials and the current behaviour. */
export function sandboxApp({ accounts, siteName, behaviour, events }: SandboxOptions): Express {
  const state: BehaviourState = { ...behaviour };
  const grants = new Grants();
  const checks = { signature: createSignatureCheck(accounts), bearer: createBearerCheck(accounts, grants) };
  const style = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

  const app = express()
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .enable('strict routing');
  app.use(safeHeaders, requireAddress);

  // Also where one origin has its page and that of the site.
  app.get(['/', '/sandbox'], (_request, response) => {
    response.type('html').send(credentialsPage({ accounts, address: addressOf(response), state }));
  });
  app.get('/sandbox.css', (_request, response) => {
    response.type('css').send(style);
  });
  app.post('/behaviour', switchBehaviour(state, events));
  app.all('/behaviour', notAllowed('POST'));

  app.use(signInRoutes(accounts, siteName, grants));
  for (const [name, { path }] of profileEntries) {
    app.get(path, identityRoute(name, { checks, state, events }));
    app.all(path, notAllowed('GET, HEAD'));
  }

  app.use((_request, response) => refuse(response, 404, 34, 'Sorry, that page does not exist'));
  return app.use(handleErrors(events));
}

// Not no-referrer, which would remove the Origin of the form.
const safeHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    'Content-Security-Policy':
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  });
  next();
};

function handleErrors(events: SandboxEvents): ErrorRequestHandler {
  return (error, _request, response, _next) => {
    if (error.status >= 400 && error.status < 500 && !response.headersSent)
      return refuse(response, error.status, 214, 'Bad request');
    events.failed(error);
    if (response.headersSent) return void response.destroy();
    refuse(response, 500, 131, 'Internal error');
  };
}
