import { visibleName } from '../../visible-text.ts';
import { type CommandContext, printNote, printRow } from '../command-context.ts';
import { profileName } from '../connection.ts';
import { DamagedProfile, lockProfile, type Profile, readProfile, removeProfile } from '../profiles/profiles.ts';
import { revokeToken } from './renew-token.ts';

/** Revokes the tokens of a profile and deletes it. */
export async function logout(context: CommandContext, options: { readonly profile?: string }): Promise<void> {
  const name = profileName(options, context.env);
  await using _lock = await lockProfile(context.env, name);
  const profile = await readProfile(context.env, name).catch(catchDamaged);
  if (profile && profile !== 'damaged' && !(await revokeToken(profile)))
    printNote(context, keptTokenNote('token', profile));
  await removeProfile(context.env, name);
  if (profile === 'damaged') throw new Error(damagedNote(name));
  printRow(
    context,
    profile ? `Signed out: ${visibleName(profile.name)} at ${visibleName(profile.providerName)}.` : 'Not signed in.',
  );
}

export function keptTokenNote(token: string, { providerName }: Profile): string {
  return `The ${token} is not revoked. It stays valid until it expires or you revoke it at ${visibleName(providerName)}.`;
}

/** For a damaged profile, `damaged`. @throws every other error */
export function catchDamaged(error: unknown): 'damaged' {
  if (error instanceof DamagedProfile) return 'damaged';
  throw error;
}

export function damagedNote(name: string): string {
  return `The file of the profile ${name} was damaged and is replaced or deleted. Its token could not be revoked: revoke it at the provider.`;
}
