import type { RequestHandler } from 'express';
import { type Clients, registration } from './clients.ts';

/** `POST /api/v1/apps` of Mastodon: registers an application. */
export function registerApp(clients: Clients): RequestHandler {
  return (request, response) => {
    const { data, error } = registration.safeParse(request.body ?? {});
    if (!data) {
      const fields = new Set(error.issues.map(({ path: [field = 'form'] }) => String(field)));
      response.status(422).json({ error: `Validation failed: ${[...fields].join(', ')} is missing or invalid` });
      return;
    }
    const { id, secret } = clients.register(data);
    response.json({
      id: '1',
      name: data.client_name,
      website: data.website ?? null,
      scopes: data.scopes.split(' '),
      redirect_uri: data.redirect_uris.join('\n'),
      redirect_uris: data.redirect_uris,
      client_id: id,
      client_secret: secret,
      client_secret_expires_at: 0,
    });
  };
}
