import { commaSeparated } from '@echodrop/service/env';
import { faultIn, type Provider, providerOf } from './provider.ts';

/** IDENTITY_PROVIDERS: entries between commas, none of which advertises the same address as an earlier entry; each fault is told by the entry's number. */
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
