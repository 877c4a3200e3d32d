/** What a part of a form is: of which name, and whether it is text or a file. */
export interface PartKind {
  readonly name: string;
  readonly isFile: boolean;
}

const disposition = /^content-disposition:[ \t]*([\w-]+)[ \t]*(;.*)?$/im;
const parameter = /;[ \t]*([\w*-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g;
const contentType = /^content-type:[ \t]*([^;\s]*)(.*)$/im;

/**
 * Reads the headers of a part (RFC 7578 section 4), as clients of many years have written them: parameters in any order, quoted
 * or not, names of files with whole paths or broken quotes. A part with another type than text is a file even without a file name.
 * @param block the header lines, each but the last ended by CRLF
 * @param historic whether media may be of disposition `file` instead of `form-data`
 * @returns undefined when it is no part of a form, or text that says it is not UTF-8
 */
export function partKind(block: string, historic: boolean): PartKind | undefined {
  const lines = block.replace(/\r\n[ \t]+/g, ' ');
  if (/[\0\r\n]/.test(lines.replaceAll('\r\n', ''))) return undefined;
  const [, type = '', rest = ''] = disposition.exec(lines.replaceAll('\r\n', '\n')) ?? [];
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of rest.matchAll(parameter)) {
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), quoted ?? plain.trim());
  }
  const name = parameters.get('name');
  const isForgiven = historic && type.toLowerCase() === 'file' && name === 'media';
  if (type.toLowerCase() !== 'form-data' && !isForgiven) return undefined;
  const [, mediaType = 'text/plain', typeParameters = ''] = contentType.exec(lines.replaceAll('\r\n', '\n')) ?? [];
  const isText = mediaType === '' || /^text\//i.test(mediaType);
  const isFile = parameters.has('filename') || parameters.has('filename*') || !isText;
  if (name === undefined || (!isFile && !isUtf8(typeParameters))) return undefined;
  return { name, isFile };
}

function isUtf8(typeParameters: string): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(typeParameters) ?? [];
  return ['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset.toLowerCase());
}
