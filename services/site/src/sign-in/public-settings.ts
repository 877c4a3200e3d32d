import { hash } from 'node:crypto';
import type { WebUpload } from '../site.ts';
import type { SignInProvider } from './sign-in-providers.ts';

type PublicProvider<P = SignInProvider> = P extends unknown
  ? Omit<P, 'origins'> & { readonly redirectPath: string }
  : never;

/** How to sign in and upload; public. */
interface PublicSettings {
  readonly upload: string;
  readonly apiKey?: string;
  readonly providers: readonly PublicProvider[];
}

/** What pages and command lines need for signing in and uploading. */
export function publicSettings({ address, apiKey, signIn }: WebUpload): PublicSettings {
  const providers = signIn.map(
    ({ origins: _, ...provider }): PublicProvider => ({ ...provider, redirectPath: redirectPath(provider) }),
  );
  return { upload: address, ...(apiKey === undefined ? {} : { apiKey }), providers };
}

/** The path to which this provider alone redirects (RFC 9700, section 4.4.2). Operators register it: never change it. */
export function redirectPath({ provider }: Pick<SignInProvider, 'provider'>): string {
  return `/sign-in/${hash('sha256', provider).slice(0, 16)}`;
}
