import { hash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { RotatedSecret } from '@echodrop/service/env';
import type { Log } from '@echodrop/service/log';
import { continueTrace, inSpan } from '@echodrop/service/tracing/trace';
import type { z } from 'zod';
import {
  forgetPath,
  maxRequestBytes,
  type ProviderUser,
  providersPath,
  providerUserShape,
  type Verdict,
  type VerificationRequest,
  verdictShape,
  verificationRequestShape,
  verificationRoute,
  verifyPath,
} from './verification.ts';

// The longest arrival of a request.
const requestTimeout = 10_000;

interface VerificationServerOptions {
  /** One secret, or several during a rotation. The server accepts each. */
  readonly secret: RotatedSecret;
  readonly providers: readonly string[];
  /** Verifies a proof. A failing provider is a verdict, and does not reject. */
  readonly verify: (request: VerificationRequest) => Promise<Verdict>;
  readonly forget: (user: ProviderUser) => Promise<void>;
  readonly log: Log;
}

/** The auth-verifier's HTTP server. Without a secret every request is 401, so that it reveals nothing. */
export function verificationServer({ secret, providers, verify, forget, log }: VerificationServerOptions): Server {
  const accepted = secret.map((each) => digest(`Bearer ${each?.reveal()}`));
  const isAuthorized = ({ headers }: IncomingMessage) => {
    const given = digest(headers.authorization ?? '');
    return accepted.some((each) => timingSafeEqual(given, each));
  };

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    switch (`${request.method} ${request.url}`) {
      case `GET ${providersPath}`:
        return respond(response, 200, providers);
      case `POST ${verifyPath}`: {
        const body = await read(request, verificationRequestShape);
        return body ? respond(response, 200, verdictShape.encode(await verify(body))) : respond(response, 400);
      }
      case `POST ${forgetPath}`: {
        const user = await read(request, providerUserShape);
        if (user) await forget(user);
        return respond(response, user ? 200 : 400);
      }
      default:
        return respond(response, 404);
    }
  };

  return createServer(
    { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval: requestTimeout / 10 },
    (request, response) => {
      if (!isAuthorized(request)) return respond(response, 401);
      const name = `${request.method} ${verificationRoute(request.url) ?? 'none'}`;
      continueTrace(String(request.headers.traceparent), () =>
        inSpan(name, 'server', {}, () => route(request, response)).catch((error: unknown) => {
          // The client has disconnected.
          if (!request.complete) return;
          log.error({ err: error }, 'Verification request failed');
          respond(response, 500);
        }),
      );
    },
  );
}

// Hashes of secrets are compared, so that the time reveals nothing of a secret's length.
function digest(value: string): Buffer {
  return hash('sha256', value, 'buffer');
}

async function read<T extends z.ZodType>(request: IncomingMessage, shape: T): Promise<z.output<T> | undefined> {
  if (Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) > maxRequestBytes) return undefined;
  const body = await text(request);
  try {
    return shape.parse(JSON.parse(body));
  } catch {
    return undefined;
  }
}

function respond(response: ServerResponse, status: number, body: unknown = {}): void {
  if (response.headersSent) return;
  // With Content-Length, head and body are one write.
  const json = JSON.stringify(body);
  const headers = ['Content-Type', 'application/json; charset=utf-8', 'Content-Length', Buffer.byteLength(json)];
  response.writeHead(status, headers).end(json);
}
