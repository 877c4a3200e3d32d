import { processStreams } from './cli/process-streams.ts';
import { runCli } from './cli/run-cli.ts';
import { localApiKey, localCredentials, localProvider, localService } from './local-system.ts';

// `npm run upload` and `npm run sign`: the command line, for a system that `npm start` runs in the same environment.
// Empty counts as unset.
const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value));
const cwd = env['INIT_CWD'] ?? process.cwd();
const context = { env: { ...localEnvironment(env), ...env }, cwd, ...processStreams() };
process.exitCode = await runCli(process.argv.slice(2), context, { isLocal: true });

function localEnvironment(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const credentials = localCredentials(given);
  return {
    ECHODROP_URL: localService(given),
    // HOST may be another address of this machine.
    ECHODROP_ALLOW_HTTP: '1',
    ECHODROP_KEY: localApiKey(given),
    ECHODROP_PROVIDER: localProvider(given),
    ...(credentials && {
      ECHODROP_CONSUMER_KEY: credentials.consumerKey,
      ECHODROP_CONSUMER_SECRET: credentials.consumerSecret,
      ECHODROP_TOKEN: credentials.token,
      ECHODROP_TOKEN_SECRET: credentials.tokenSecret,
    }),
  };
}
