import { type FormPart, multipartForm } from './multipart-form.ts';
import { patientSignal } from './patience.ts';
import { type Signer, signEcho } from './sign-echo.ts';
import { type Stack, sandbox } from './start-stack.ts';

export interface UploadOptions {
  readonly version?: 1 | 2;
  readonly format?: 'xml' | 'json';
  readonly media?: Buffer;
  readonly message?: string;
  /** Alternative text; none by default. */
  readonly alt?: string;
  /** Replaces the parts of the form. */
  readonly parts?: readonly FormPart[];
  /** Adds to the headers of the request, or replaces them. */
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** The request of a client for the sandbox user; valid unless options change that. */
export function uploadRequest(stack: Pick<Stack, 'provider'>, options: UploadOptions = {}) {
  const { version = 2, format = 'json', message = 'a caption', alt, media } = options;
  const parts = options.parts ?? [
    { name: 'key', content: sandbox.apiKey },
    ...(version === 1 ? secretParts : []),
    { name: 'message', content: message },
    ...(alt === undefined ? [] : [{ name: 'alt', content: alt }]),
    ...(media ? [{ name: 'media', filename: 'media', content: media }] : []),
  ];
  const { contentType, body } = multipartForm(parts);
  const headers: Record<string, string> = {
    ...(version === 2 && echoHeaders(stack)),
    'Content-Type': contentType,
    ...options.headers,
  };
  return { path: `/${version}/upload.${format}`, headers, body };
}

/** Uploads over HTTP. @returns the response with its body as text */
export async function upload(stack: Pick<Stack, 'gateway' | 'provider'>, options: UploadOptions = {}) {
  const { path, headers, body } = uploadRequest(stack, options);
  const signal = options.signal ?? patientSignal();
  const response = await fetch(`${stack.gateway}${path}`, { method: 'POST', headers, body, signal });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The two headers of version 2, with a new signature. */
export function echoHeaders({ provider }: Pick<Stack, 'provider'>): Record<string, string> {
  return {
    'X-Auth-Service-Provider': provider,
    'X-Verify-Credentials-Authorization': signEcho(provider, sandbox),
  };
}

/** As `echoHeaders`, with a wrong signature. */
export function wrongEchoHeaders(stack: Pick<Stack, 'provider'>): Record<string, string> {
  const headers = echoHeaders(stack);
  const flip = (first: string) => (first === 'A' ? 'B' : 'A');
  const wrong = `${headers['X-Verify-Credentials-Authorization']}`.replace(/(?<=oauth_signature=")./, flip);
  return { ...headers, 'X-Verify-Credentials-Authorization': wrong };
}

/** The four secrets of version 1. */
export function secretPartsOf({ consumer, token }: Signer): FormPart[] {
  return [
    { name: 'consumer_token', content: consumer.key },
    { name: 'consumer_secret', content: consumer.secret },
    { name: 'oauth_token', content: token.key },
    { name: 'oauth_secret', content: token.secret },
  ];
}

export const secretParts: readonly FormPart[] = secretPartsOf(sandbox);
