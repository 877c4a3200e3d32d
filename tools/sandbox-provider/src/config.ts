import { choice, port, readSettings, text, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { z } from 'zod';
import { behaviourNames, maxSlowSeconds } from './behaviours.ts';
import { builtInAccounts, readAccounts } from './users.ts';

const settings = {
  ...processSettings(9085),
  PORT: port(8085),
  /** A JSON file of users and consumers; by default there is one of each. */
  SANDBOX_USERS_FILE: text()
    .transform((path, context) => {
      const accounts = readAccounts(path);
      if ('users' in accounts) return accounts;
      for (const fault of accounts) context.addIssue(fault);
      return z.NEVER;
    })
    .default(builtInAccounts),
  /** The site's setting; names the public client. */
  SITE_NAME: text('Echodrop'),
  /** The initial behaviour. */
  SANDBOX_BEHAVIOUR: choice(behaviourNames, 'normal'),
  /** The delay of `slow`. */
  SANDBOX_SLOW_SECONDS: wholeNumber({ default: 10, min: 1, max: maxSlowSeconds }),
};

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
