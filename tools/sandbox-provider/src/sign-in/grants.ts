import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SandboxUser } from '../users.ts';
import type { Client } from './clients.ts';

/** What an application asked a user to allow. */
export interface AuthorizationRequest {
  readonly client: Client;
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string | undefined;
  readonly nonce: string | undefined;
  /** Of PKCE, with S256. */
  readonly challenge: string;
}

export interface Grant extends AuthorizationRequest {
  readonly user: SandboxUser;
}

const minuteMs = 60_000;

/** Requests that wait for a decision, codes and access tokens. Each kind is limited in number and time; the oldest are forgotten first. */
export class Grants {
  readonly #requests = new LRUCache<string, AuthorizationRequest>({ max: 1000, ttl: 10 * minuteMs });
  readonly #codes = new LRUCache<string, Grant>({ max: 1000, ttl: minuteMs });
  readonly #tokens = new LRUCache<string, Grant>({ max: 10_000, ttl: 12 * 60 * minuteMs });

  /** Keeps a request until the user decides. @returns an id that only the consent page knows */
  keepRequest(request: AuthorizationRequest): string {
    return keep(this.#requests, request);
  }

  takeRequest(id: string): AuthorizationRequest | undefined {
    return take(this.#requests, id);
  }

  issueCode(grant: Grant): string {
    return keep(this.#codes, grant);
  }

  /** A code can be used once. */
  takeCode(code: string): Grant | undefined {
    return take(this.#codes, code);
  }

  issueToken(grant: Grant): string {
    return keep(this.#tokens, grant);
  }

  revokeToken(token: string, client: Client): void {
    if (this.#tokens.get(token)?.client.id === client.id) this.#tokens.delete(token);
  }

  userOf(token: string): SandboxUser | undefined {
    return this.#tokens.get(token)?.user;
  }
}

function keep<T extends object>(cache: LRUCache<string, T>, value: T): string {
  const id = randomBytes(32).toString('base64url');
  cache.set(id, value);
  return id;
}

function take<T extends object>(cache: LRUCache<string, T>, id: string): T | undefined {
  const found = cache.get(id);
  cache.delete(id);
  return found;
}
