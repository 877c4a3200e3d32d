import { parametersOf } from './header-parameters.ts';

/** What a part of a form is: of which name, and a file or text. `ascii`: text that says it is of a charset which shares only ASCII with UTF-8. */
export interface PartKind {
  readonly name: string;
  readonly content: 'file' | 'utf-8' | 'ascii';
}

const plainEncodings = ['', '7bit', '8bit', 'binary'];
const sharesAscii = /^(iso-8859-\d+|latin\d+|windows-125\d|cp125\d)$/;

/**
 * Reads the headers of a part (RFC 7578 section 4), as clients of many years have written them: parameters in any order, quoted
 * or not, names of files with whole paths or broken quotes. A part with another type than text is a file even without a file name.
 * @param block the header lines, each but the last ended by CRLF
 * @param historic whether media may be of disposition `file` instead of `form-data`
 * @returns undefined when it is no part of a form, or is encoded in a way that nobody could read as it stands
 */
export function partKind(block: string, historic: boolean): PartKind | undefined {
  const lines = block.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  if (lines.some((line) => /[\0\r\n]/.test(line))) return undefined;
  const [disposition, parameters] = header(lines, 'content-disposition');
  const name = parameters.get('name')?.[0];
  const isForgiven = historic && disposition === 'file' && name === 'media';
  if (name === undefined || (disposition !== 'form-data' && !isForgiven)) return undefined;
  if (!plainEncodings.includes(header(lines, 'content-transfer-encoding')[0])) return undefined;
  const [type, typeParameters] = header(lines, 'content-type');
  const isText = type === '' || type.startsWith('text/');
  if (parameters.has('filename') || parameters.has('filename*') || !isText) return { name, content: 'file' };
  const content = textContent(typeParameters.get('charset')?.[0]?.toLowerCase() ?? 'utf-8');
  return content && { name, content };
}

function textContent(charset: string): 'utf-8' | 'ascii' | undefined {
  if (['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset)) return 'utf-8';
  return sharesAscii.test(charset) ? 'ascii' : undefined;
}

function header(lines: readonly string[], name: string): [word: string, parameters: ReturnType<typeof parametersOf>] {
  const line = lines.find((each) => each.toLowerCase().startsWith(`${name}:`)) ?? '';
  const value = line.slice(name.length + 1).trim();
  return [/^[^;,\s]*/.exec(value)?.[0].toLowerCase() ?? '', parametersOf(value)];
}
