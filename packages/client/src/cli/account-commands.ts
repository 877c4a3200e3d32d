import type { Command } from 'commander';
import { authorizationOf } from '../credentials.ts';
import { toExactJson } from '../exact-json.ts';
import { visible, visibleName } from '../visible-text.ts';
import { type CommandContext, print, printRow } from './command-context.ts';
import { addConnectionOptions, type ConnectionOptions, connect, directProof } from './connection.ts';
import { identifyUser } from './sign-in/identify-user.ts';
import { type LoginOptions, login, logout } from './sign-in/login.ts';
import { withRenewal } from './with-client.ts';

const loginHelp = `
Examples:
  echodrop login https://photos.example
  echodrop login https://photos.example --provider Town --profile town
  secret-tool lookup service echodrop | echodrop login https://photos.example --token-stdin --yes

The token is stored in $XDG_CONFIG_HOME/echodrop (default: ~/.config), in a file that only you can read.
`;

/** Adds the commands for accounts: login, whoami, logout, sign. With `isLocal`, `sign` names the sandbox user. */
export function addAccountCommands(program: Command, context: CommandContext, isLocal: boolean): void {
  program
    .command('login')
    .description("sign in with the site's identity provider, in the browser")
    .argument('<site>', 'URL of the site')
    .option('--provider <name>', 'name or URL of the provider, if the site has several')
    .option('--profile <name>', 'name under which to save this login (ECHODROP_PROFILE)')
    .option('--key <key>', 'API key, if the site publishes none')
    .option('--token-stdin', 'read a bearer token from standard input and open no browser')
    .option('-y, --yes', 'do not ask before the first sign-in at a site, for scripts')
    .option('--no-browser', 'print the sign-in URL instead of opening a browser; it is valid for ten minutes')
    .addHelpText('after', loginHelp)
    .action((site: string, options: LoginOptions) => login(context, site, options));

  const whoami = program
    .command('whoami')
    .description('show the user and the server')
    .option('--json', 'print a JSON object')
    .action((options: ConnectionOptions & { json?: boolean }) => showUser(context, options));
  addConnectionOptions(whoami);

  program
    .command('logout')
    .description('revoke the token at the provider, if supported, and delete it here')
    .option('--profile <name>', 'name of a login that `echodrop login` saved (ECHODROP_PROFILE)')
    .action((options: { profile?: string }) => logout(context, options));

  const sign = program
    .command('sign')
    .description(
      'print the value of the header X-Verify-Credentials-Authorization: a signature for one upload, or `Bearer` and the token, which is a secret',
    )
    .addHelpText(
      'after',
      isLocal
        ? `\nBy default, it signs as the sandbox user of the running \`npm start\`; the options and variables above override that.\n`
        : '',
    )
    .action((options: ConnectionOptions) => printSignature(context, options));
  addConnectionOptions(sign);
}

async function showUser(context: CommandContext, { json, ...options }: ConnectionOptions & { json?: boolean }) {
  const connection = await connect(context, options);
  const { provider, service } = connection;
  const user = await withRenewal(connection, (proof) => identifyUser(proof));
  if (json) print(context, toExactJson({ ...user, provider, service }));
  else printRow(context, visible(`${visibleName(user.name)} at ${provider}, uploading to ${service}`));
}

async function printSignature(context: CommandContext, options: ConnectionOptions): Promise<void> {
  // A header alone needs no upload service.
  const { provider, credentials } = directProof(options, context.env) ?? (await connect(context, options));
  print(context, await authorizationOf(provider, credentials));
}
