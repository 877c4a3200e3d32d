import { choice, port, readSettings, text, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { z } from 'zod';
import { behaviourNames, maxSlowSeconds } from './behaviours.ts';
import { builtInAccounts, readAccounts } from './users.ts';

export const settings = {
  ...processSettings(9085),
  PORT: port(8085),
  SANDBOX_USERS_FILE: text()
    .transform((path, context) => {
      const accounts = readAccounts(path);
      if ('users' in accounts) return accounts;
      for (const fault of accounts) context.addIssue(fault);
      return z.NEVER;
    })
    .default(builtInAccounts)
    .describe('JSON file with users and consumers; without it there is one of each'),
  SITE_NAME: text('Echodrop').describe("the same as the site's: the consent page shows it"),
  SANDBOX_BEHAVIOUR: choice(behaviourNames, 'normal').describe(
    `initial behaviour, until changed on its page: ${behaviourNames.map((name) => `\`${name}\``).join(', ')}`,
  ),
  SANDBOX_SLOW_SECONDS: wholeNumber({ default: 10, min: 1, max: maxSlowSeconds }).describe('delay of `slow`'),
};

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
