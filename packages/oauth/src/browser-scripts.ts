/**
 * The scripts with which a page makes OAuth headers of its own, on plain http too: where each lies, under the path that it has below the folder
 * that they are served from. `oauth-1.0a.js` is a classic script and runs first; `authorization.js` is the module for others to import.
 */
export const browserScripts: Readonly<Record<string, URL>> = {
  'oauth-1.0a.js': new URL(import.meta.resolve('oauth-1.0a')),
  'authorization.js': new URL('./in-browser/authorization.js', import.meta.url),
  ...Object.fromEntries(['hmac', 'legacy', 'utils', '_md', '_u64'].map((name) => [`hashes/${name}.js`, hash(name)])),
};

// Not all of them are among the package's exports.
function hash(name: string): URL {
  return new URL(`./${name}.js`, import.meta.resolve('@noble/hashes/hmac.js'));
}
