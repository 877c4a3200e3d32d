/**
 * How a software responds to the check of a user's credentials: the fields are those that its documentation or its source shows, the
 * values are made up, and ids are numbers or texts as that software sends them.
 */
export interface ProviderResponses {
  /** The word for it in IDENTITY_PROVIDERS. */
  readonly profile: string;
  readonly scheme: 'OAuth' | 'Bearer';
  readonly path: string;
  /** The 200 to the right credentials, as JSON text. */
  readonly accepted: string;
  readonly refused: ProviderRefusal;
  /** Whom `accepted` names. */
  readonly subject: string;
  readonly screenName: string;
}

export interface ProviderRefusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}
