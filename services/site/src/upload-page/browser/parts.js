// @ts-check

/**
 * The part of the page with this id, which is of this kind.
 *
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function part(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page lacks #${id}`);
  return found;
}

/**
 * A number of bytes as people read it.
 *
 * @param {number} bytes
 */
export function sizeOf(bytes) {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
