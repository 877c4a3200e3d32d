import type { ProcessSettings } from '@echodrop/service/process-settings';
import { readConfig as authVerifier, settings as ofAuthVerifier } from '../../services/auth-verifier/src/config.ts';
import { readConfig as gateway, settings as ofGateway } from '../../services/gateway/src/config.ts';
import { settings as ofProbeWorker, readConfig as probeWorker } from '../../services/probe-worker/src/config.ts';
import {
  settings as ofRenditionWorker,
  readConfig as renditionWorker,
} from '../../services/rendition-worker/src/config.ts';
import { settings as ofSite, readConfig as site } from '../../services/site/src/config.ts';
import {
  settings as ofSandboxProvider,
  readConfig as sandboxProvider,
} from '../../tools/sandbox-provider/src/config.ts';

/** How each service reads its settings, by the name of its folder. */
export const configReaders = {
  gateway,
  site,
  'auth-verifier': authVerifier,
  'probe-worker': probeWorker,
  'rendition-worker': renditionWorker,
  'sandbox-provider': sandboxProvider,
} as const;

/** The settings that each service reads, by the name of its folder. */
export const settingShapes = {
  gateway: ofGateway,
  site: ofSite,
  'auth-verifier': ofAuthVerifier,
  'probe-worker': ofProbeWorker,
  'rendition-worker': ofRenditionWorker,
  'sandbox-provider': ofSandboxProvider,
} as const;

export type ServiceName = keyof typeof configReaders;

/** Settings of all services; workers have no PORT. */
export type ServiceConfig = ProcessSettings & { readonly PORT?: number };

export const serviceNames = Object.keys(configReaders) as ServiceName[];

/** Services with clients. They stop first, as their last responses need the others. */
export const frontServices: ReadonlySet<ServiceName> = new Set<ServiceName>(['gateway', 'site']);
