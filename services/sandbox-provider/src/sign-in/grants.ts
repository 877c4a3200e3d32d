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

/** Values by random ids. Beyond `max` the oldest are forgotten. */
class Kept<T extends object> {
  readonly #values: LRUCache<string, T>;

  constructor(max: number, minutes: number) {
    this.#values = new LRUCache({ max, ttl: minutes * 60_000 });
  }

  /** @returns the id */
  keep(value: T): string {
    const id = randomBytes(32).toString('base64url');
    this.#values.set(id, value);
    return id;
  }

  find(id: string): T | undefined {
    return this.#values.get(id);
  }

  remove(id: string): void {
    this.#values.delete(id);
  }

  /** The value, once. */
  take(id: string): T | undefined {
    const found = this.find(id);
    this.remove(id);
    return found;
  }
}

/** What a sign-in keeps from step to step. */
export class Grants {
  /** Requests that wait for the user's decision. Only the consent page knows the id of one. */
  readonly requests = new Kept<AuthorizationRequest>(1000, 10);
  readonly codes = new Kept<Grant>(1000, 1);
  /** Access tokens. */
  readonly tokens = new Kept<Grant>(10_000, 12 * 60);
}
