import type { Credentials } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { isSchemeSupported } from './proof.ts';

/**
 * The provider of a request: for version 1 the first with OAuth 1.0a, without an address the only one with the scheme. Addresses match only
 * as identical strings, not if they parse equally (docs/why/dependencies.md, "HTTP on Node").
 */
export function findProvider(providers: readonly Provider[], credentials: Credentials): Provider | undefined {
  if (credentials.version === 1) return providers.find(({ profile }) => profile.signsRequests);
  if (credentials.provider !== undefined)
    return providers.find(({ advertised }) => advertised === credentials.provider);
  const [only = providers[0], ...others] = providers.filter((provider) => isSchemeSupported(credentials, provider));
  return others.length === 0 ? only : undefined;
}
