import { VerificationClient } from '@echodrop/contracts/verification-client';
import { faultIn, type Provider } from '@echodrop/identity-provider/provider';
import { ProviderConnections } from '@echodrop/identity-provider/provider-connections';
import { InvalidSettings } from '@echodrop/service/env';
import { Command, CommanderError } from 'commander';
import { addArchiveCommands } from './archive-commands.ts';
import { readForgetConfig, readProviderTestConfig } from './config.ts';
import { forget } from './forget.ts';
import { findingLine, heading } from './provider-doctor/tell.ts';
import { entryMeant, providerTest } from './provider-test.ts';
import { addStoreCommands } from './store-commands.ts';

const forgetMs = 5000;

/** Where a command writes to. */
interface Output {
  readonly stdout: Pick<NodeJS.WritableStream, 'write'>;
  readonly stderr: Pick<NodeJS.WritableStream, 'write'>;
}

/** Runs the command that `args` name, with the settings in `env`; gives the exit status, which the help explains. */
export async function runAdmin(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { stdout, stderr }: Output,
): Promise<number> {
  let status = 0;
  const print = (line: string) => stdout.write(`${line}\n`);
  const admin = new Command('admin')
    .description(
      'Commands for operators. Settings come from the environment, a secret NAME also from the file that NAME_FILE names; beside a ' +
        'system that `npm start` runs with the same environment none are needed. The exit status is 0 when all is well, 1 when ' +
        'something is wrong, 2 when arguments or settings are faulty.',
    )
    .helpCommand(false)
    .showHelpAfterError('(--help tells more)')
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) });

  admin
    .command('provider-test')
    .summary('tells whether an identity provider can be asked, and what is wrong if not')
    .description(
      'Asks an identity provider, [profile ]advertised[=upstream], some questions, and tells in a sentence each whether it is ' +
        'reached, what its clock says, whether it answers as its profile says, and whether the advertised Host is right. To verify a ' +
        'user for real, set PROVIDER_TEST_CONSUMER_KEY, PROVIDER_TEST_CONSUMER_SECRET, PROVIDER_TEST_TOKEN and PROVIDER_TEST_TOKEN_SECRET, or PROVIDER_TEST_BEARER ' +
        'where the profile takes a token. PROVIDER_TIMEOUT_MS (5000) is for each question.',
    )
    .argument(
      '[entry...]',
      'one entry, as IDENTITY_PROVIDERS has it or shall have it; of one that it has, the advertised address is enough; none: all that it has',
    )
    .action(async (words: string[], _options: unknown, command: Command) => {
      const config = readProviderTestConfig(env);
      const providers = providersMeant(words.join(' '), config.IDENTITY_PROVIDERS, command);
      await using connections = new ProviderConnections(config.PROVIDER_TIMEOUT_MS);
      const { user, PROVIDER_TIMEOUT_MS: timeoutMs, USER_ID_SECRET: userIdSecret } = config;
      for (const provider of providers) {
        print(heading(provider));
        for await (const finding of providerTest(provider, { connections, timeoutMs, user, userIdSecret })) {
          print(findingLine(finding));
          if (finding.weight === 'wrong') status = 1;
        }
      }
    });

  admin
    .command('forget')
    .summary('makes void what is remembered of a user, at once')
    .description('Makes every auth-verifier forget its verdicts about a user, so that the provider is asked anew.')
    .argument('<provider>', 'the advertised address, as it is configured')
    .argument(
      '<subject>',
      "the user's id as the provider sends it, which a stored record keeps as `subject`; user.id in an answer may be another",
    )
    .action(async (provider: string, subject: string) => {
      const { VERIFIER_URL: address, VERIFIER_SECRET: secret } = readForgetConfig(env);
      await using verifier = new VerificationClient({ address, secret, deadlineMs: forgetMs });
      print(await forget(verifier, { provider, subject }));
    });

  const means = { env, print, tell: (line: string) => stderr.write(`${line}\n`) };
  addArchiveCommands(admin, means);
  addStoreCommands(admin, means);

  await admin.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
    status = exitStatusOf(error);
    // What commander finds wrong it has told already.
    if (!(error instanceof CommanderError)) stderr.write(`${told(error)}\n`);
  });
  return status;
}

function providersMeant(entry: string, configured: readonly Provider[], command: Command): readonly Provider[] {
  const named = entryMeant(entry, configured);
  if (named) return [named];
  if (entry !== '') command.error(`The entry ${faultIn(entry)}.`);
  if (configured.length === 0) command.error('Name an entry, or set IDENTITY_PROVIDERS to all that are to be asked.');
  return configured;
}

function exitStatusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof InvalidSettings ? 2 : 1;
}

function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  return cause ? `${error.message} (${cause.message || cause.code})` : error.message;
}
