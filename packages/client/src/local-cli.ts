import { processStreams } from './cli/process-streams.ts';
import { runCli } from './cli/run-cli.ts';
import {
  configuredProvider,
  hasSandboxUser,
  localApiKey,
  localService,
  sandboxBearer,
  sandboxProvider,
  sandboxSigning,
  sandboxSigningProvider,
} from './local-system.ts';

// `npm run upload` and `npm run sign`: the command line, for a system that `npm start` runs in the same environment.
// An empty variable counts as unset.
const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value));
const cwd = env['INIT_CWD'] ?? process.cwd();
const service = env['ECHODROP_URL'] ?? localService(env);
const args = process.argv.slice(2);
const context = { env: { ...localEnvironment(env), ...env, ECHODROP_URL: service }, cwd, ...processStreams() };
process.exitCode = await runCli(args, context, { isLocal: true });
if (process.exitCode === 1 && args[0] === 'upload' && !(await isResponding(service)))
  process.stderr.write(`${service} does not respond. Start the system with \`npm start\`, in the same environment.\n`);

async function isResponding(address: string): Promise<boolean> {
  const response = fetch(address, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(5000) });
  return response.then(
    () => true,
    () => false,
  );
}

function localEnvironment(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const signing = sandboxSigningProvider(given);
  const signs =
    args[0] === 'sign' ||
    given['ECHODROP_TOKEN'] !== undefined ||
    given['ECHODROP_PROVIDER'] === signing ||
    args.some(
      (each) =>
        /^--(consumer-key|consumer-secret|token|token-secret)(=|$)/.test(each) ||
        each.replace('--provider=', '') === signing,
    );
  return {
    // HOST may be another address of this machine.
    ECHODROP_ALLOW_HTTP: '1',
    ECHODROP_KEY: localApiKey(given),
    ECHODROP_PROVIDER: configuredProvider(given) ?? (signs ? signing : sandboxProvider(given)),
    ...(hasSandboxUser(given) && {
      ...(!signs && { ECHODROP_BEARER: sandboxBearer }),
      // Version 1 of the API needs these credentials, too.
      ECHODROP_CONSUMER_KEY: sandboxSigning.consumerKey,
      ECHODROP_CONSUMER_SECRET: sandboxSigning.consumerSecret,
      ECHODROP_TOKEN: sandboxSigning.token,
      ECHODROP_TOKEN_SECRET: sandboxSigning.tokenSecret,
    }),
  };
}
