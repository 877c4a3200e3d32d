/** The fields of the upload page that say who uploads, with their labels. */
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

/** What stands in fields before anybody types. Everybody who opens the page can read it. */
export type Fill = Readonly<Partial<Record<FieldName, string>>>;

/** A JSON object of texts under the names of fields; undefined when it is none. */
export function readFill(json: string): Fill | undefined {
  try {
    const fill: unknown = JSON.parse(json);
    return isFill(fill) ? fill : undefined;
  } catch {
    return undefined;
  }
}

function isFill(value: unknown): value is Fill {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([name, text]) => Object.hasOwn(fieldLabels, name) && typeof text === 'string');
}
