import { hash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { addressOf } from '../request-address.ts';
import type { Client, Clients } from './clients.ts';
import { type Grant, type Grants, keep, take } from './grants.ts';
import { issueIdToken } from './id-token.ts';

const text = z.string().max(2000).default('');

const form = z.object({
  grant_type: text,
  client_id: text,
  client_secret: text,
  code: text,
  redirect_uri: text,
  code_verifier: text,
  token: text,
});

type Form = z.output<typeof form>;

interface Dependencies {
  readonly clients: Clients;
  readonly grants: Grants;
}

/** `POST /oauth/token`: a token for a code (RFC 6749, section 4.1.3) or for an application alone (section 4.4). */
export function issueToken({ clients, grants }: Dependencies): RequestHandler {
  return (request, response) => {
    const fields = readForm(request);
    const client = fields && authenticate(fields, clients);
    if (!fields) return refuse(response, 400, 'invalid_request', 'The form has a repeated or too long parameter');
    if (!client) return refuse(response, 401, 'invalid_client', 'The client is unknown, or its secret is wrong');
    if (fields.grant_type === 'client_credentials' && client.secret !== undefined)
      return sendToken(response, 'sandbox-application', client.scope);
    if (fields.grant_type !== 'authorization_code')
      return refuse(response, 400, 'unsupported_grant_type', 'grant_type must be authorization_code');
    const grant = take(grants.codes, fields.code);
    if (!grant || !isFor(grant, fields, client))
      return refuse(response, 400, 'invalid_grant', 'The code has expired or was used, or does not fit the request');
    const isOidc = grant.scope.split(' ').includes('openid');
    const idToken = isOidc ? issueIdToken(grant, addressOf(response).origin) : undefined;
    sendToken(response, keep(grants.tokens, grant), grant.scope, idToken);
  };
}

/** `POST /oauth/revoke` (RFC 7009). */
export function revokeToken({ clients, grants }: Dependencies): RequestHandler {
  return (request, response) => {
    const fields = readForm(request);
    const client = fields && authenticate(fields, clients);
    if (!client) return refuse(response, 403, 'unauthorized_client', 'You are not authorized to revoke this token');
    if (grants.tokens.get(fields.token)?.client.id === client.id) grants.tokens.delete(fields.token);
    response.json({});
  };
}

/** The form, with the client's credentials also from HTTP Basic. */
function readForm({ body, headers: { authorization = '' } }: Request): Form | undefined {
  const { data } = form.safeParse(body ?? {});
  const [, encoded] = /^Basic ([\w+/]+=*)$/i.exec(authorization) ?? [];
  if (!data || encoded === undefined) return data;
  const [id = '', secret = ''] = Buffer.from(encoded, 'base64').toString('latin1').split(':').map(decodeForm);
  return { ...data, client_id: id, client_secret: secret };
}

function decodeForm(value: string): string {
  return new URLSearchParams(`v=${value}`).get('v') ?? '';
}

function authenticate({ client_id: id, client_secret: secret }: Form, clients: Clients): Client | undefined {
  const client = clients.find(id);
  return client && (client.secret === undefined || client.secret === secret) ? client : undefined;
}

function isFor(grant: Grant, { redirect_uri: redirectUri, code_verifier: verifier }: Form, client: Client): boolean {
  const isVerified = /^[\w.~-]{43,128}$/.test(verifier) && hash('sha256', verifier, 'base64url') === grant.challenge;
  return grant.client.id === client.id && grant.redirectUri === redirectUri && isVerified;
}

function sendToken(response: Response, token: string, scope: string, idToken?: string | undefined): void {
  const createdAt = Math.floor(Date.now() / 1000);
  response.json({ access_token: token, token_type: 'Bearer', scope, created_at: createdAt, id_token: idToken });
}

function refuse(response: Response, status: number, error: string, error_description: string): void {
  response.status(status).json({ error, error_description });
}
