/** The credential fields of the upload page, with their labels. */
export const fieldLabels = {
  provider: 'Identity provider',
  apiKey: 'API key',
  consumerKey: 'Consumer key',
  consumerSecret: 'Consumer secret',
  token: 'Token',
  tokenSecret: 'Token secret',
  bearer: 'Bearer token',
} as const;

export type FieldName = keyof typeof fieldLabels;

/** Initial values of fields. They are public: every visitor can read them. */
export type Prefill = Readonly<Partial<Record<FieldName, string>>>;

/** Parses a JSON object of strings named like fields. @returns undefined if `json` is not one */
export function parsePrefill(json: string): Prefill | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isPrefill(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isPrefill(value: unknown): value is Prefill {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([name, text]) => Object.hasOwn(fieldLabels, name) && typeof text === 'string');
}
