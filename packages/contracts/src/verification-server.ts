import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Log } from '@echodrop/service/log';
import type { Secret } from '@echodrop/service/secret';
import {
  type Credentials,
  credentialsShape,
  maxQuestionBytes,
  providersPath,
  type Verdict,
  verdictShape,
  verifyPath,
} from './verification.ts';

interface VerificationAnswers {
  readonly secret: Secret;
  readonly providers: readonly string[];
  /** Never rejects for what a provider does: that is a verdict. */
  readonly verify: (credentials: Credentials) => Promise<Verdict>;
  readonly log: Log;
}

/** The auth-verifier's end of the verification wire: who does not know the secret learns nothing, not even which paths there are. */
export function verificationServer({ secret, providers, verify, log }: VerificationAnswers): RequestListener {
  const expected = digest(`Bearer ${secret.reveal()}`);
  return async (request, response) => {
    try {
      if (!timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) return answer(response, 401);
      if (request.method === 'GET' && request.url === providersPath) return answer(response, 200, providers);
      if (request.method !== 'POST' || request.url !== verifyPath) return answer(response, 404);
      const question = await readQuestion(request);
      if (question === undefined) return answer(response, 400);
      answer(response, 200, verdictShape.encode(await verify(question)));
    } catch (error) {
      log.error({ err: error }, 'question could not be answered');
      answer(response, 500);
    }
  };
}

// Both are hashed, so that the comparison tells nothing of the secret's length.
function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}

async function readQuestion(request: IncomingMessage): Promise<Credentials | undefined> {
  if (Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) > maxQuestionBytes) return undefined;
  const text = (await buffer(request)).toString();
  try {
    return credentialsShape.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function answer(response: ServerResponse, status: number, body: unknown = {}): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
