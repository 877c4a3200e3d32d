/** The rules of upload clients, as modules for pages: name and file. The npm package bundles the same ones. */
export const browserScripts: Readonly<Record<string, URL>> = {
  'piece-sizes.js': new URL('./client-rules/piece-sizes.js', import.meta.url),
  'refused-uploads.js': new URL('./client-rules/refused-uploads.js', import.meta.url),
  'retry-policy.js': new URL('./client-rules/retry-policy.js', import.meta.url),
  'shell-word.js': new URL('./client-rules/shell-word.js', import.meta.url),
};
