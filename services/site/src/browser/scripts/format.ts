/** Formats a number of bytes. */
export function formatSize(bytes: number) {
  if (bytes < 1e3) return formatCount(bytes, 'byte');
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/** The beginning of a caption, for lists. */
export function shortenCaption(caption: string) {
  const characters = [...caption.trim()];
  return characters.length > 120 ? `${characters.slice(0, 120).join('')}…` : characters.join('');
}

/** Formats a number of things: "1 file", "2 files". */
export function formatCount(count: number, thing: string) {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
