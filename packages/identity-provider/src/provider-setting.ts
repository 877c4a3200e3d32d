import { commaSeparated } from '@echodrop/service/env';
import { faultIn, type Provider, providerOf } from './provider.ts';

/** Parses IDENTITY_PROVIDERS: comma-separated entries with distinct advertised addresses. A fault names the number of its entry. */
export function identityProviders(fallback?: string) {
  return commaSeparated(fallback).transform((entries, context): readonly Provider[] => {
    const advertised = new Set<string>();
    const providers: Provider[] = [];
    for (const [index, entry] of entries.entries()) {
      const provider = providerOf(entry);
      const fault =
        provider && advertised.has(provider.advertised)
          ? 'advertises the same address as an earlier entry'
          : faultIn(entry);
      if (fault !== undefined) context.addIssue(`entry ${index + 1} ${fault}`);
      if (!provider) continue;
      advertised.add(provider.advertised);
      providers.push(provider);
    }
    return providers;
  });
}
