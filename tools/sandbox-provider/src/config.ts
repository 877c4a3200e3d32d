import { choice, port, readSettings, type Settings, text, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { z } from 'zod';
import { behaviourNames, largestWaitSeconds } from './behaviours.ts';
import { builtInAccounts } from './users.ts';
import { accountsInFile } from './users-file.ts';

const settings = {
  ...processSettings(9085),
  PORT: port(8085),
  /** Users and consumers as JSON; without it there is one of each. */
  SANDBOX_USERS_FILE: text()
    .transform((path, context) => {
      const read = accountsInFile(path);
      if ('users' in read) return read;
      for (const fault of read) context.addIssue(fault);
      return z.NEVER;
    })
    .default(builtInAccounts),
  /** How it behaves until it is told otherwise. */
  SANDBOX_BEHAVIOUR: choice(behaviourNames, 'normal'),
  /** How long it waits when it is slow. */
  SANDBOX_SLOW_SECONDS: wholeNumber({ default: 10, min: 1, max: largestWaitSeconds }),
};

export type SandboxConfig = Settings<typeof settings>;

/** @throws InvalidSettings with all faults at once */
export function readConfig(env: NodeJS.ProcessEnv): SandboxConfig {
  return readSettings(settings, env);
}
