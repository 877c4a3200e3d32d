import type { ProcessSettings } from '@echodrop/service/process-settings';
import * as authVerifier from '../../services/auth-verifier/src/config.ts';
import * as gateway from '../../services/gateway/src/config.ts';
import * as probeWorker from '../../services/probe-worker/src/config.ts';
import * as renditionWorker from '../../services/rendition-worker/src/config.ts';
import * as sandboxProvider from '../../services/sandbox-provider/src/config.ts';
import * as site from '../../services/site/src/config.ts';

/** The settings of each service, and how it reads them, by the name of its folder. */
export const serviceConfigs = {
  gateway,
  site,
  'auth-verifier': authVerifier,
  'probe-worker': probeWorker,
  'rendition-worker': renditionWorker,
  'sandbox-provider': sandboxProvider,
} as const;

export type ServiceName = keyof typeof serviceConfigs;

/** Settings of all services; workers have no PORT. */
export type ServiceConfig = ProcessSettings & { readonly PORT?: number };

export const serviceNames = Object.keys(serviceConfigs) as ServiceName[];

/** Services with clients. They stop first, as their last responses need the others. */
export const frontServices: ReadonlySet<ServiceName> = new Set<ServiceName>(['gateway', 'site']);
