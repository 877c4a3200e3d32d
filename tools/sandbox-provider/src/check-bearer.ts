import type { Proof } from './proof.ts';
import type { Accounts, SandboxUser } from './users.ts';

export type BearerFault = 'missing' | 'malformed' | 'unknown';

/** Whose token a request bears in its Authorization header (RFC 6750, section 2.1). */
export class BearerCheck {
  readonly #users: ReadonlyMap<string, SandboxUser>;

  constructor({ users }: Accounts) {
    this.#users = new Map(users.flatMap((user) => user.bearerTokens.map((token) => [token, user])));
  }

  check({ authorization = '' }: Pick<Proof, 'authorization'>): SandboxUser | BearerFault {
    if (!/^Bearer(?: |$)/i.test(authorization)) return 'missing';
    const [, token] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization) ?? [];
    return token === undefined ? 'malformed' : (this.#users.get(token) ?? 'unknown');
  }
}
