import type { ProcessSettings } from '@echodrop/service/process-settings';
import { readConfig as authVerifier } from '../../services/auth-verifier/src/config.ts';
import { readConfig as gateway } from '../../services/gateway/src/config.ts';
import { readConfig as probeWorker } from '../../services/probe-worker/src/config.ts';
import { readConfig as renditionWorker } from '../../services/rendition-worker/src/config.ts';
import { readConfig as site } from '../../services/site/src/config.ts';
import { readConfig as sandboxProvider } from '../../tools/sandbox-provider/src/config.ts';

/** How each service reads its settings, by the name of its folder. */
export const configReaders = {
  gateway,
  site,
  'auth-verifier': authVerifier,
  'probe-worker': probeWorker,
  'rendition-worker': renditionWorker,
  'sandbox-provider': sandboxProvider,
} as const;

export type ServiceName = keyof typeof configReaders;

/** Settings of all services; workers have no PORT. */
export type ServiceConfig = ProcessSettings & { readonly PORT?: number };

export const serviceNames = Object.keys(configReaders) as ServiceName[];

/** Services with clients. They stop first, as their last responses need the others. */
export const frontServices: ReadonlySet<ServiceName> = new Set<ServiceName>(['gateway', 'site']);
