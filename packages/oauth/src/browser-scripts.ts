/**
 * The scripts with which a page signs OAuth requests, on plain HTTP too: path below the folder that serves them, and file.
 * `oauth-1.0a.js` is a classic script that runs first; pages import the module `authorization.js`.
 */
export const browserScripts: Readonly<Record<string, URL>> = {
  'oauth-1.0a.js': new URL(import.meta.resolve('oauth-1.0a')),
  'authorization.js': new URL('./in-browser/authorization.js', import.meta.url),
  ...Object.fromEntries(['hmac', 'legacy', 'utils', '_md', '_u64'].map((name) => [`hashes/${name}.js`, hash(name)])),
};

// The package exports only some of them.
function hash(name: string): URL {
  return new URL(`./${name}.js`, import.meta.resolve('@noble/hashes/hmac.js'));
}
