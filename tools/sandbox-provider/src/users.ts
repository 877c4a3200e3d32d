/** An application that may ask for its users by OAuth 1.0a. */
export interface Consumer {
  readonly key: string;
  readonly secret: string;
}

/** What stands for a user when a request is signed. */
export interface OAuthToken {
  readonly token: string;
  readonly secret: string;
}

export interface SandboxUser {
  /** An integer of any size up to 64 bits, or a string that is no number. */
  readonly id: bigint | string;
  readonly screenName: string;
  readonly name: string;
  readonly oauthTokens: readonly OAuthToken[];
  readonly bearerTokens: readonly string[];
}

/** All that the sandbox knows. It tells everything of it on its page: nothing here is a secret. */
export interface Accounts {
  readonly consumers: readonly Consumer[];
  readonly users: readonly SandboxUser[];
}

/** What it knows where no file tells it: the application and the user that docs/settings.md names. */
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
