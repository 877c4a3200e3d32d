import type { ProviderUser } from '@echodrop/contracts/verification';
import { VerificationClient } from '@echodrop/contracts/verification-client';
import { type Provider, readProvider } from '@echodrop/identity-provider/provider';
import { ProviderConnections } from '@echodrop/identity-provider/provider-connections';
import type { Command } from 'commander';
import { type CommandContext, printFromStore } from './command-context.ts';
import { readProviderTestConfig, readVerifierConfig } from './config.ts';
import { printFindings } from './finding.ts';
import { handOverAndReport, requireMoved } from './hand-over.ts';
import { providerArgument, quoteName, subjectArgument } from './name-arguments.ts';
import { examineProvider, titleOf } from './provider-test/examine-provider.ts';
import { orInterrupted } from './watched-store.ts';

const verifierMs = 5000;
const [, , readAddress] = providerArgument;

/** Adds the commands for identity providers: provider-test, forget, hand-over. */
export function addProviderCommands(admin: Command, context: CommandContext): void {
  const { env, print, audit, signal } = context;
  admin
    .command('provider-test')
    .summary('test an identity provider and explain what is wrong')
    .description(
      'Query an identity provider and report, one finding per line, whether it is reachable, whether its clock agrees with this machine, and whether it ' +
        'responds as expected of its type (mastodon, oidc, ...). If the entry of the provider has an internal URL, also report ' +
        'whether that URL accepts the public host name in the Host header. To verify a user of an OAuth 1.0a provider, set PROVIDER_TEST_CONSUMER_KEY, ' +
        'PROVIDER_TEST_CONSUMER_SECRET, PROVIDER_TEST_TOKEN and PROVIDER_TEST_TOKEN_SECRET; for other providers set ' +
        'PROVIDER_TEST_BEARER. PROVIDER_TIMEOUT_MS (5000) limits each request.',
    )
    .argument(
      '[words...]',
      'the URL of one provider that IDENTITY_PROVIDERS contains, or an entry to test before you add it there. An entry can be several words, such as `oidc https://id.example` ' +
        '(docs/reference/identity-providers.md). Default: all in IDENTITY_PROVIDERS',
    )
    .action((words: string[], _options: unknown, command: Command) =>
      orInterrupted(signal, async () => {
        const { user, ...config } = readProviderTestConfig(env);
        const { PROVIDER_TIMEOUT_MS: timeoutMs, USER_ID_SECRET: userIdSecret } = config;
        await using connections = new ProviderConnections(timeoutMs);
        const examination = { connections, timeoutMs, user, userIdSecret };
        async function* examineAll() {
          for (const provider of findProviders(words.join(' '), config.IDENTITY_PROVIDERS, command)) {
            print(titleOf(provider));
            yield* examineProvider(provider, examination);
          }
        }
        await printFindings(examineAll(), print, 'The provider test found faults.');
      }),
    );

  admin
    .command('forget')
    .summary('clear the cached verification results of a user; deletes no uploads')
    .description(
      'Clear the cached verification results of a user on every auth-verifier, so that the next request queries the provider. Deletes no uploads.',
    )
    .argument(...providerArgument)
    .argument(...subjectArgument)
    .action((provider: string, subject: string) =>
      orInterrupted(signal, async () => {
        await using verifier = verifierOf(env);
        print(await forget(verifier, { provider, subject }));
      }),
    );

  admin
    .command('hand-over')
    .summary('give the uploads of a provider that moved to its new address')
    .description(
      'Give all uploads, unfinished uploads and blocks of a provider to its new address, if every user keeps the id there. First put the new address in ' +
        'place of the old one in IDENTITY_PROVIDERS and restart the auth-verifier. Safe while the services run, but not beside remove, purge or another ' +
        'hand-over. If it is interrupted, run it again. Pages and media keep their addresses; lists of users get new ones.',
    )
    .argument('<from>', 'the old address, as `list` prints it', readAddress)
    .argument('<to>', 'the new address, as in IDENTITY_PROVIDERS', readAddress)
    .option('--yes', 'hand them over (default: dry run)')
    .option(
      '--stopped',
      'the whole system is stopped: do not ask the auth-verifier which providers it knows, and hand over resumable uploads also on a store ' +
        'without conditional writes',
    )
    .action(async (from: string, to: string, { yes = false, stopped = false }, command: Command) => {
      const entry = readProvider(to);
      if (from === to) command.error('The addresses are the same.');
      if (typeof entry === 'string' || entry.advertised !== to)
        command.error('The new address must be an http(s) address, without profile and upstream.');
      if (yes && !stopped) {
        await orInterrupted(signal, async () => {
          await using verifier = verifierOf(env);
          requireMoved(await knownProviders(verifier, ' If the whole system is stopped, add --stopped.'), { from, to });
        });
      }
      await printFromStore(context, (store) =>
        handOverAndReport(store, { from, to, dryRun: !yes, isStopped: stopped, audit }),
      );
    });
}

function verifierOf(env: CommandContext['env']): VerificationClient {
  const { VERIFIER_URL: address, VERIFIER_SECRET: secret } = readVerifierConfig(env);
  return new VerificationClient({ address, secret, deadlineMs: verifierMs });
}

function findProviders(entry: string, configured: readonly Provider[], command: Command): readonly Provider[] {
  const named = configured.find(({ advertised }) => advertised === entry) ?? readProvider(entry);
  if (typeof named !== 'string') return [named];
  if (entry !== '') command.error(`The entry ${named}.`);
  if (configured.length === 0) command.error('Give a provider, or set IDENTITY_PROVIDERS.');
  return configured;
}

/** Clears the cached verdicts about a user at every verifier. @returns a line to print @throws an Error with a message to print */
async function forget(verifier: VerificationClient, user: ProviderUser): Promise<string> {
  const { provider, subject } = user;
  const known = await knownProviders(verifier);
  if (!known.includes(provider))
    throw new Error(`Unknown provider ${provider}. Configured providers: ${known.join(', ')}`);
  await verifier
    .forget(user)
    .catch(
      rethrowAs(
        "Failed to clear the cached verification results. Check the verifier's cache (CACHE_REDIS_URL or REDIS_URL).",
      ),
    );
  return (
    `Cleared the cached successful verifications of user ${quoteName(subject)} of ${provider}; the next request queries the provider. ` +
    'Cached refusals are not cleared; they expire within ten seconds.'
  );
}

function knownProviders(verifier: VerificationClient, hint = ''): Promise<readonly string[]> {
  const message = `Verifier unavailable. Check VERIFIER_URL and VERIFIER_SECRET.${hint}`;
  return verifier.knownProviders().catch(rethrowAs(message));
}

function rethrowAs(message: string): (error: unknown) => never {
  return (error) => {
    throw new Error(message, { cause: error instanceof Error ? (error.cause ?? error) : error });
  };
}
