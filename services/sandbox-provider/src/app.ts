import { readFileSync } from 'node:fs';
import type { Log } from '@echodrop/service/log';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { createBearerCheck, createSignatureCheck } from './check-proof.ts';
import { credentialsPage } from './credentials-page.ts';
import { identityRoute } from './identity-route.ts';
import { profileEntries } from './profiles.ts';
import { addressOf, requireAddress } from './request-address.ts';
import { Grants } from './sign-in/grants.ts';
import { signInRoutes } from './sign-in/sign-in-routes.ts';
import { type BehaviourState, switchBehaviour } from './switch-behaviour.ts';
import type { Accounts } from './users.ts';

interface SandboxOptions {
  readonly accounts: Accounts;
  /** The name of the public client. */
  readonly siteName: string;
  readonly log: Log;
}

/** The routes of the sandbox: an endpoint for each profile, signing in, and a page with credentials and the current behaviour. */
export function sandboxApp({ accounts, siteName, log }: SandboxOptions): Express {
  const state: BehaviourState = { behaviour: 'normal', slowSeconds: 10 };
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
  app.post('/behaviour', switchBehaviour(state, log));
  app.use(signInRoutes(accounts, siteName, grants));
  for (const [name, { path }] of profileEntries) app.get(path, identityRoute(name, { checks, state, log }));

  app.use((_request, response) => void response.status(404).json({ error: 'Not found' }));
  return app.use(handleErrors(log));
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

function handleErrors(log: Log): ErrorRequestHandler {
  return (error, _request, response, _next) => {
    const isOfClient = error.status >= 400 && error.status < 500;
    if (!isOfClient) log.error({ err: error }, 'Request failed');
    if (response.headersSent) return void response.destroy();
    response.status(isOfClient ? error.status : 500).json({ error: isOfClient ? 'Bad request' : 'Internal error' });
  };
}
