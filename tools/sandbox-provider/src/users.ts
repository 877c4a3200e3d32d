/** An application that signs with OAuth 1.0a. */
export interface Consumer {
  readonly key: string;
  readonly secret: string;
}

export interface OAuthToken {
  readonly token: string;
  readonly secret: string;
}

export interface SandboxUser {
  /** An integer of up to 64 bits, or a string that is not a number. */
  readonly id: bigint | string;
  readonly screenName: string;
  readonly name: string;
  readonly oauthTokens: readonly OAuthToken[];
  readonly bearerTokens: readonly string[];
}

/** Nothing here is a secret: the page shows everything. */
export interface Accounts {
  readonly consumers: readonly Consumer[];
  readonly users: readonly SandboxUser[];
}

/** The default application and user, which docs/settings.md names. */
export const builtInAccounts: Accounts = {
  consumers: [{ key: 'sandbox-consumer', secret: 'sandbox-consumer-secret' }],
  users: [
    {
      id: 12345n,
      screenName: 'sandbox',
      name: 'Sandbox',
      oauthTokens: [{ token: '12345-sandbox', secret: 'sandbox-token-secret' }],
      bearerTokens: ['sandbox-bearer'],
    },
  ],
};
