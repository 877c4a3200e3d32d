import { defaultOpsPorts, defaultPorts } from '@echodrop/service/default-ports';
import { port, readSettings, text } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { z } from 'zod';
import { builtInAccounts, readAccounts } from './users.ts';

export const settings = {
  ...processSettings(defaultOpsPorts['sandbox-provider']),
  PORT: port(defaultPorts['sandbox-provider']),
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
};

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
