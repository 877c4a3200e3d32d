// @ts-check
import { formatSize } from '/scripts/format.js';

/**
 * Why the gateway would refuse a file, as far as its size and name show. The gateway itself decides by the bytes.
 *
 * @param {File} file
 * @param {{ maxBytes: number, extensions: readonly string[] }} limits
 * @returns {string | undefined}
 */
export function faultOf({ name, size, type }, { maxBytes, extensions }) {
  if (size === 0) return 'This file is empty.';
  if (size > maxBytes) {
    const format = formatSize(size) === formatSize(maxBytes) ? formatBytes : formatSize;
    return `This file is too large: ${format(size)}. The limit is ${format(maxBytes)}.`;
  }
  const extension = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  if (extensions.includes(extension)) return undefined;
  // A pasted picture may have no name, and a phone may not know the type.
  const isMedia = /^(image|video)\/(?!svg)/.test(type) || (type === '' && extension === '');
  return isMedia ? undefined : 'Unsupported file type. Use JPEG, PNG, GIF, WebP, HEIC, MP4 or MOV.';
}

/** @param {number} count */
function formatBytes(count) {
  return `${count.toLocaleString('en')} bytes`;
}

/**
 * Whether the file can be read. A folder, or a file that was changed, moved or removed since, cannot.
 *
 * @param {File} file
 */
export async function isReadable(file) {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
}
