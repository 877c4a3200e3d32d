/** An application that may ask for its users. */
export interface Consumer {
  readonly key: string;
  readonly secret: string;
}

/** A user and the token that stands for them. */
export interface SandboxUser {
  readonly token: string;
  readonly tokenSecret: string;
  readonly id: number;
  readonly screenName: string;
}

/** All that the sandbox knows. Nothing here is a secret: these are printed on its page, and DESIGN names them. */
export const consumers: readonly Consumer[] = [{ key: 'sandbox-consumer', secret: 'sandbox-consumer-secret' }];

export const users: readonly SandboxUser[] = [
  { token: '12345-sandbox', tokenSecret: 'sandbox-token-secret', id: 12345, screenName: 'sandbox' },
];
