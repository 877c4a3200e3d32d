import type { RequestHandler, Response } from 'express';
import { z } from 'zod';
import { addressOf } from '../request-address.ts';
import type { SandboxUser } from '../users.ts';
import { allowsRedirect, type Client, type Clients } from './clients.ts';
import { consentPage, signInErrorPage } from './consent-page.ts';
import { type AuthorizationRequest, type Grants, keep, take } from './grants.ts';

const parameter = z.string().max(2000);

// A repeated parameter is not a string.
const query = z.object({
  client_id: parameter,
  redirect_uri: parameter,
  response_type: parameter.optional(),
  scope: parameter.optional(),
  state: parameter.optional(),
  nonce: parameter.optional(),
  code_challenge: parameter.optional(),
  code_challenge_method: parameter.optional(),
});

const decision = z.object({
  request: parameter,
  user: parameter.optional(),
  decision: z.enum(['allow', 'deny']),
});

interface Dependencies {
  readonly users: readonly SandboxUser[];
  readonly clients: Clients;
  readonly grants: Grants;
}

/** `GET /oauth/authorize`: the consent page (RFC 6749, section 4.1.1, with PKCE). Redirects only to a redirect URI of a known client. */
export function requestConsent({ users, clients, grants }: Dependencies): RequestHandler {
  return (request, response) => {
    const { data } = query.safeParse(request.query);
    if (!data) return refuse(response, 'client_id or redirect_uri is missing, or a parameter is repeated or too long.');
    const client = clients.find(data.client_id);
    if (!client) return refuse(response, 'This application is not registered here, or no longer. Register it again.');
    const { redirect_uri: redirectUri, state, nonce, scope = client.scope, code_challenge: challenge = '' } = data;
    if (!allowsRedirect(client, redirectUri))
      return refuse(response, 'redirect_uri is not registered for this application.');

    const fault = faultOf(data, client, scope);
    if (fault) return redirect(response, { redirectUri, state }, fault);
    const pending: AuthorizationRequest = { client, redirectUri, scope, state, nonce, challenge };
    // Browsers also apply form-action to the redirect after the form.
    const policy = response.get('Content-Security-Policy') ?? '';
    const formAction = `form-action 'self' ${new URL(redirectUri).origin}`;
    response.set('Content-Security-Policy', policy.replace(/form-action 'self'/, formAction));
    response.type('html').send(consentPage(keep(grants.requests, pending), pending, users));
  };
}

/** `POST /oauth/authorize`: the form of the consent page. Its secret id protects it against forged requests. */
export function decide({ users, grants }: Dependencies): RequestHandler {
  return (request, response) => {
    const { data } = decision.safeParse(request.body ?? {});
    if (!data) return refuse(response, 'The form is incomplete.');
    const pending = take(grants.requests, data.request);
    if (!pending) return refuse(response, 'This page has expired. Go back to the application and sign in again.');
    if (data.decision === 'deny')
      return redirect(response, pending, { error: 'access_denied', error_description: 'The user denied the request' });
    const user = users.find(({ screenName }) => screenName === data.user);
    if (!user) return refuse(response, 'Choose a user. Go back to the application and sign in again.');
    redirect(response, pending, { code: keep(grants.codes, { ...pending, user }) });
  };
}

function faultOf(data: z.output<typeof query>, client: Client, scope: string): Record<string, string> | undefined {
  const fault = (error: string, error_description: string) => ({ error, error_description });
  if (data.response_type !== 'code') return fault('unsupported_response_type', 'response_type must be code');
  const allowed = client.scope.split(' ');
  if (!scope.split(' ').every((each) => allowed.includes(each)))
    return fault('invalid_scope', `scope must be of: ${client.scope}`);
  if (data.code_challenge_method !== 'S256' || !/^[\w-]{43}$/.test(data.code_challenge ?? ''))
    return fault('invalid_request', 'code_challenge with code_challenge_method S256 is required');
  return undefined;
}

function redirect(
  response: Response,
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  result: Record<string, string>,
): void {
  const target = new URL(redirectUri);
  const parameters = { ...result, ...(state !== undefined && { state }), iss: addressOf(response).origin };
  for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
  response.redirect(303, target.href);
}

function refuse(response: Response, reason: string): void {
  response.status(400).type('html').send(signInErrorPage(reason));
}
