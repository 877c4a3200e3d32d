import { hash } from 'node:crypto';

export const verifier = 'v'.repeat(43);
export const site = 'https://media.example/sign-in';

/** One user's way through the sandbox at `origin`, as a browser and an application go it. */
export function signInAt(origin: string) {
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(origin + path, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers });
  return {
    post,
    async register(redirectUris = site, scopes = 'profile') {
      const fields = { client_name: 'Echodrop', redirect_uris: redirectUris, scopes };
      return (await (await post('/api/v1/apps', fields)).json()) as { client_id: string; client_secret: string };
    },
    /** Opens the consent page. `undefined` removes a parameter. */
    authorize(clientId: string, changes: Record<string, string | undefined> = {}) {
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: site,
        state: 'the-state',
        code_challenge: hash('sha256', verifier, 'base64url'),
        code_challenge_method: 'S256',
        ...changes,
      };
      const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
      return fetch(`${origin}/oauth/authorize?${new URLSearchParams(given)}`, { redirect: 'manual' });
    },
    /** Submits the form of a consent page. @returns the response, and the address to which it redirects */
    async decide(page: Response, decision = 'allow', user = 'sandbox') {
      const [, request = ''] = /name="request" value="([^"]+)"/.exec(await page.text()) ?? [];
      const response = await post('/oauth/authorize', { request, user, decision });
      const location = response.headers.get('location');
      return { response, target: location === null ? undefined : new URL(location) };
    },
    async token(fields: Record<string, string>) {
      const response = await post('/oauth/token', {
        grant_type: 'authorization_code',
        redirect_uri: site,
        code_verifier: verifier,
        ...fields,
      });
      return { status: response.status, body: (await response.json()) as Record<string, string> };
    },
  };
}
