import type { Provider } from '@echodrop/identity-provider/provider';
import { profileNames, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import type { Finding } from './finding.ts';

/** What is asked, before anything is found. */
export function heading({ advertised, upstream, profile }: Provider): string {
  const name = profileNames.find((candidate) => providerProfiles[candidate] === profile);
  const { origin, pathname } = new URL(upstream);
  const asked = upstream === advertised ? '' : `, asked at ${origin}${pathname}`;
  return `${advertised} (profile ${name})${asked}`;
}

/** A finding as a line of its own. */
export function findingLine({ weight, sentence }: Finding): string {
  return `${weight.padEnd(5)}  ${sentence}`;
}
