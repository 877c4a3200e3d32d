import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { type ListeningServer, listen } from '../servers/listen.ts';

export interface StandInRequest {
  /** Method and path, such as `POST /oauth/token`. */
  readonly route: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

export interface StandInResponse {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly json?: unknown;
}

/** A provider for sign-in with a browser, with flaws that tests can enable. */
export interface SignInStandIn<Flaw extends string> extends AsyncDisposable {
  /** Its entry of WEB_SIGN_IN. */
  readonly signIn: object;
  /** Its entry of IDENTITY_PROVIDERS. */
  readonly identityProvider: string;
  /** The address and referrer of every request. */
  readonly seen: readonly string[];
  readonly revoked: readonly string[];
  flaw: Flaw | undefined;
}

/** Starts a server on a free port that adds requests to `seen`. If `respond` returns nothing, the response is 404. */
export async function startStandInServer(
  seen: string[],
  respond: (request: StandInRequest) => StandInResponse | undefined,
): Promise<ListeningServer> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams: query } = new URL(`http://stand-in${request.url}`);
    seen.push(`${request.method} ${request.url} ${request.headers.referer ?? ''}`);
    const form = new URLSearchParams(await text(request));
    const route = `${request.method} ${pathname}`;
    const {
      status = 200,
      headers = {},
      json = {},
    } = respond({ route, query, form, headers: request.headers }) ?? {
      status: 404,
    };
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(json));
  });
  return listen(server);
}

/** A redirect to `address` with these parameters. */
export function redirectTo(address: string, parameters: Record<string, string | null>): StandInResponse {
  const target = new URL(address);
  for (const [name, value] of Object.entries(parameters)) if (value !== null) target.searchParams.set(name, value);
  return { status: 302, headers: { Location: target.href } };
}

export function oauthError(status: number, error: string): StandInResponse {
  return { status, json: { error, error_description: `The stand-in says ${error}` } };
}
