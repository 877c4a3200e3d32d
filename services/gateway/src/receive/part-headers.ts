import { Refusal } from '../response/refusal-error.ts';
import { mediaTypeOf, parametersOf } from './header-parameters.ts';

/** The credentials of version 1. */
export const secretNames = ['consumer_token', 'consumer_secret', 'oauth_token', 'oauth_secret'] as const;
/** The text parameters of both versions (docs/reference/interface.md sections 4.1, 4.2), and the optional `alt`. */
const fieldNames = ['key', 'message', 'alt', ...secretNames] as const;
export type FieldName = (typeof fieldNames)[number];

/** A part of a form. */
export interface PartKind {
  readonly name: string;
  /** `ascii`: text in a charset that shares only ASCII with UTF-8. */
  readonly content: 'file' | 'utf-8' | 'ascii';
  /** What made it a file: a file name, or the media type in `Content-Type`. */
  readonly sign?: string;
}

const plainEncodings = ['', '7bit', '8bit', 'binary'];
const isUtf8 = /^(|utf-?8|unicode-1-1-utf-8|cp65001|us-ascii|ascii|ansi_x3\.4-1968)$/;
const sharesAscii = /^(iso[-_]?8859[-_]\d+|latin\d+|windows-125\d|cp125\d|koi8-[ru]|gbk|gb2312|big5|euc-(jp|kr))$/;
const single = ['content-disposition', 'content-type', 'content-transfer-encoding'];

/**
 * Reads the headers of a part (RFC 7578 section 4) as clients have written them: parameters in any order, quoted or not, file names with
 * paths or unescaped quotes. A part with another type than text is a file even without a file name.
 * @param block the header lines, each but the last ended by CRLF
 * @param isHistoric whether media may be of disposition `file` instead of `form-data`
 * @throws Refusal `form_malformed` if it is no part of a form, or has an unsupported encoding
 */
export function partKind(block: string, isHistoric: boolean): PartKind {
  const lines = block.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  if (!areHeaders(lines)) throw new Refusal('form_malformed', { message: 'headers' });
  const { name, isForgiven, hasFileName } = readDisposition(lines, isHistoric);
  const [type, typeParameters] = header(lines, 'content-type');
  const isFile = isForgiven || hasFileName || !isText(type);
  // Other parts are dropped, whatever their encoding.
  if (name !== 'media' && !isFieldName(name)) return { name, content: isFile ? 'file' : 'utf-8' };
  if (!plainEncodings.includes(header(lines, 'content-transfer-encoding')[0]))
    throw new Refusal('form_malformed', { message: 'transferEncoding', values: { name } });
  if (isFile) return { name, content: 'file', sign: isText(type) ? 'it has a file name' : `Content-Type ${type}` };
  const content = textContent(typeParameters.get('charset') ?? []);
  if (!content) throw new Refusal('form_malformed', { message: 'charset', values: { name } });
  return { name, content };
}

/** `isForgiven`: media of disposition `file`. @throws Refusal `form_malformed` */
function readDisposition(lines: readonly string[], isHistoric: boolean) {
  const [disposition, parameters] = header(lines, 'content-disposition');
  const [name, ...others] = parameters.get('name') ?? [];
  // Other parsers may read another one.
  if (others.length > 0) throw new Refusal('form_malformed', { message: 'headers' });
  const isForgiven = isHistoric && disposition === 'file' && name === 'media';
  if (name === undefined || (disposition !== 'form-data' && !isForgiven))
    throw new Refusal('form_malformed', { message: 'disposition' });
  return { name, isForgiven, hasFileName: parameters.has('filename') || parameters.has('filename*') };
}

export function isFieldName(name: string): name is FieldName {
  return (fieldNames as readonly string[]).includes(name);
}

function isText(type: string): boolean {
  return type === '' || type.startsWith('text/');
}

// Repeated headers are ambiguous: other parsers may read the other one.
function areHeaders(lines: readonly string[]): boolean {
  const names = lines.map((line) => /^([\w!#$%&'*+.^`|~-]+):[^\0\r\n]*$/.exec(line)?.[1]?.toLowerCase());
  return !names.includes(undefined) && single.every((name) => names.indexOf(name) === names.lastIndexOf(name));
}

function textContent([charset = '', ...others]: readonly string[]): 'utf-8' | 'ascii' | undefined {
  const name = charset.toLowerCase().replace(/^'(.*)'$/, '$1');
  if (others.length > 0) return undefined;
  if (isUtf8.test(name)) return 'utf-8';
  return sharesAscii.test(name) ? 'ascii' : undefined;
}

function header(lines: readonly string[], name: string): [word: string, parameters: ReturnType<typeof parametersOf>] {
  const line = lines.find((each) => each.toLowerCase().startsWith(`${name}:`)) ?? '';
  const value = line.slice(name.length + 1).trim();
  return [mediaTypeOf(value), parametersOf(value)];
}
