import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SandboxUser } from '../users.ts';
import type { Client } from './clients.ts';

const minuteMs = 60_000;

/** What an application asked a user to allow. */
export interface AuthorizationRequest {
  readonly client: Client;
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string | undefined;
  readonly nonce: string | undefined;
  /** The PKCE code challenge; the method is S256. */
  readonly challenge: string;
}

export interface Grant extends AuthorizationRequest {
  readonly user: SandboxUser;
}

/** Sign-ins in progress and their tokens, each under a random id. If one of the maps is full, its least recently used entry goes. */
export class Grants {
  /** Requests that wait for the user's decision. Only the consent page knows the id of one. */
  readonly requests = new LRUCache<string, AuthorizationRequest>({ max: 1000, ttl: 10 * minuteMs });
  readonly codes = new LRUCache<string, Grant>({ max: 1000, ttl: minuteMs });
  readonly tokens = new LRUCache<string, Grant>({ max: 10_000, ttl: 12 * 60 * minuteMs });
}

/** Keeps `value` under a new id. @returns the id */
export function keep<T extends object>(values: LRUCache<string, T>, value: T): string {
  const id = randomBytes(32).toString('base64url');
  values.set(id, value);
  return id;
}

/** Returns a value and forgets it, so that it can be used once. */
export function take<T extends object>(values: LRUCache<string, T>, id: string): T | undefined {
  const value = values.get(id);
  values.delete(id);
  return value;
}
