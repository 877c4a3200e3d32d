/**
 * How a provider software responds to a verification. Fields are from its documentation or source, values are made up, and ids are
 * numbers or strings as that software sends them.
 */
export interface ProviderResponses {
  /** Its profile in IDENTITY_PROVIDERS. */
  readonly profile: string;
  readonly scheme: 'OAuth' | 'Bearer';
  readonly path: string;
  /** The body of the 200 to correct credentials. */
  readonly accepted: string;
  readonly refused: ProviderRefusal;
  /** The user in `accepted`. */
  readonly subject: string;
  readonly screenName: string;
}

export interface ProviderRefusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}
