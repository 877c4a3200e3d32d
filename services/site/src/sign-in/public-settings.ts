import { redirectPath } from '@echodrop/contracts/sign-in';
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
