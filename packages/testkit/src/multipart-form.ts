import { randomBytes } from 'node:crypto';

/** One part of a form: a text field, or a file if it has a `filename`. `headers` replaces all headers of the part. */
export interface FormPart {
  readonly name: string;
  readonly content: string | Buffer;
  readonly filename?: string;
  readonly type?: string;
  readonly headers?: string;
}

export interface MultipartForm {
  readonly contentType: string;
  readonly body: Buffer;
}

/** A multipart/form-data body of exactly these parts. Nothing is escaped, so that tests can send malformed forms. */
export function multipartForm(
  parts: readonly FormPart[],
  boundary = `boundary-${randomBytes(8).toString('hex')}`,
): MultipartForm {
  const chunks = parts.flatMap((part) => [`--${boundary}\r\n${headersOf(part)}\r\n\r\n`, part.content, '\r\n']);
  const bytes = [...chunks, `--${boundary}--\r\n`].map((each) => (typeof each === 'string' ? Buffer.from(each) : each));
  const body = Buffer.concat(bytes);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

function headersOf({ name, filename, type, headers }: FormPart): string {
  if (headers !== undefined) return headers;
  const disposition = `Content-Disposition: form-data; name="${name}"`;
  if (filename === undefined) return disposition;
  return `${disposition}; filename="${filename}"\r\nContent-Type: ${type ?? 'application/octet-stream'}`;
}
