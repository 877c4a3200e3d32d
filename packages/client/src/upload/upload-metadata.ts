/** The value of `Upload-Metadata` for texts (tus 1.0.0, "Creation"). */
export function metadataOf(fields: Readonly<Record<string, string>>): string {
  const encode = (text: string) =>
    btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
  return Object.entries(fields)
    .map(([name, text]) => `${name} ${encode(text)}`.trim())
    .join(',');
}

/** `Upload-Metadata` without the API key, which the service does not keep. */
export function withoutKey(metadata: string): string {
  return metadata
    .split(',')
    .filter((pair) => !pair.startsWith('key '))
    .join(',');
}
