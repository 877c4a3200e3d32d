// @ts-check

/**
 * Formats a number of bytes.
 *
 * @param {number} bytes
 */
export function formatSize(bytes) {
  if (bytes < 1e3) return formatCount(bytes, 'byte');
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/**
 * The beginning of a caption, for lists.
 *
 * @param {string} caption
 */
export function shortenCaption(caption) {
  const characters = [...caption.trim()];
  return characters.length > 120 ? `${characters.slice(0, 120).join('')}…` : characters.join('');
}

/**
 * Formats a number of things: "1 file", "2 files".
 *
 * @param {number} count
 * @param {string} thing
 */
export function formatCount(count, thing) {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
