import { formatSize } from '/scripts/format.js';

// Browsers do not know the type of every file, nor do phones of every picture that they share.
const unknownTypes = ['', 'application/octet-stream'];

/** Why the gateway would refuse a file, as far as its size, name and type show. The gateway itself decides by the bytes. */
export function faultOf(
  { name, size, type }: File,
  {
    maxBytes,
    extensions,
    contentTypes,
    unsupported,
  }: { maxBytes: number; extensions: readonly string[]; contentTypes: readonly string[]; unsupported: string },
): string | undefined {
  if (size === 0) return 'This file is empty.';
  if (size > maxBytes) {
    const format = formatSize(size) === formatSize(maxBytes) ? formatBytes : formatSize;
    return `This file is too large: ${format(size)}. The limit is ${format(maxBytes)}.`;
  }
  const extension = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  // Recorders add codecs.
  const [contentType = ''] = type.split(';');
  const isAccepted = extensions.includes(extension) || [...unknownTypes, ...contentTypes].includes(contentType);
  return isAccepted ? undefined : unsupported;
}

function formatBytes(count: number) {
  return `${count.toLocaleString('en')} bytes`;
}

/** Whether the file can be read. A folder, or a file that was changed, moved or removed since, cannot. */
export async function isReadable(file: File) {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
}
