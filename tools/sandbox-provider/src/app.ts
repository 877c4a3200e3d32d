import { readFileSync } from 'node:fs';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import { answerQuestion } from './answer-question.ts';
import { BearerCheck } from './check-bearer.ts';
import { SignatureCheck } from './check-signature.ts';
import { credentialsPage } from './credentials-page.ts';
import type { SandboxEvents } from './events.ts';
import { profileEntries } from './profiles/profiles.ts';
import { addressOf, requireAddress } from './require-address.ts';
import { type Switch, switchBehaviour } from './switch-behaviour.ts';
import type { Accounts } from './users.ts';

interface SandboxParts {
  readonly accounts: Accounts;
  /** How it behaves at first. */
  readonly behaviour: Readonly<Switch>;
  readonly events: SandboxEvents;
}

/** The provider's routes: who a request's user is, for every kind of provider, and a page that says how to ask and how it behaves. */
export function sandboxApp({ accounts, behaviour, events }: SandboxParts): Express {
  const state: Switch = { ...behaviour };
  const checks = { signature: new SignatureCheck(accounts), bearer: new BearerCheck(accounts) };
  const style = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

  const app = express()
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .enable('strict routing');
  app.use(safeHeaders, requireAddress);

  app.get('/', (_request, response) => {
    response.type('html').send(credentialsPage({ accounts, address: addressOf(response), state }));
  });
  app.get('/style.css', (_request, response) => {
    response.type('css').send(style);
  });
  app.post('/behaviour', switchBehaviour(state, events));
  app.all('/behaviour', notAllowed('POST'));

  for (const [name, { path }] of profileEntries) {
    app.get(path, answerQuestion(name, { checks, state, events }));
    app.all(path, notAllowed('GET, HEAD'));
  }

  app.use((_request, response) => refuse(response, 404, 34, 'Sorry, that page does not exist'));
  return app.use(failed(events));
}

// The page's form needs its Origin, which no-referrer would take from it.
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

function notAllowed(methods: string): RequestHandler {
  return (_request, response) => refuse(response.set('Allow', methods), 405, 86, `This takes ${methods}`);
}

function failed(events: SandboxEvents): ErrorRequestHandler {
  return (error, _request, response, next) => {
    if (response.headersSent) return next(error);
    if (error.status >= 400 && error.status < 500) return refuse(response, error.status, 214, 'Bad request');
    events.failed(error);
    refuse(response, 500, 131, 'Internal error');
  };
}

// Codes as old clients know them from X.
function refuse(response: Response, status: number, code: number, message: string): void {
  response.status(status).json({ errors: [{ code, message }] });
}
