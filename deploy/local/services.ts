import type { ProcessSettings } from '@echodrop/service/process-settings';
import { readConfig as authVerifier } from '../../services/auth-verifier/src/config.ts';
import { readConfig as gateway } from '../../services/gateway/src/config.ts';
import { readConfig as probeWorker } from '../../services/probe-worker/src/config.ts';
import { readConfig as renditionWorker } from '../../services/rendition-worker/src/config.ts';
import { readConfig as site } from '../../services/site/src/config.ts';
import { readConfig as sandboxProvider } from '../../tools/sandbox-provider/src/config.ts';

/** How each service reads its settings, under the name of its folder. */
export const configReaders = {
  gateway,
  site,
  'auth-verifier': authVerifier,
  'probe-worker': probeWorker,
  'rendition-worker': renditionWorker,
  'sandbox-provider': sandboxProvider,
} as const;

export type ServiceName = keyof typeof configReaders;

/** What `npm start` needs to know of any service's settings; workers have no PORT. */
export type ServiceConfig = ProcessSettings & { readonly PORT?: number };

export const serviceNames = Object.keys(configReaders) as ServiceName[];

/** Those that take requests from outside; they stop first, so that what they still answer finds the others there. */
export const frontServices: ReadonlySet<ServiceName> = new Set<ServiceName>(['gateway', 'site']);
