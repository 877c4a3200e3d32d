import type { ByteRange } from '@echodrop/object-store/object-store';

/**
 * What a Range header asks of `size` bytes (RFC 9110 section 14.1.2). No header, several ranges, another unit and what is malformed all mean
 * the whole, as the RFC allows.
 */
export function askedRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return 'whole';
  const backwards = first !== '' && last !== '' && Number(last) < Number(first);
  if (backwards) return 'whole';

  const offset = first === '' ? Math.max(size - Number(last), 0) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(Number(last) + 1, size);
  return offset < end ? { offset, length: end - offset } : 'unsatisfiable';
}
