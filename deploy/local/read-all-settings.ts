import { providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { InvalidSettings } from '@echodrop/service/env';
import { settingName } from './default-settings.ts';
import { type ServiceConfig, type ServiceName, serviceConfigs } from './services.ts';

interface Fault {
  readonly service: ServiceName;
  /** The fault in a sentence, with the service's own names of settings. */
  readonly fault: string;
}

/**
 * Reads the settings of every service from its environment, which was derived from `env`.
 * @throws InvalidSettings with the faults of all services, under the names of variables in `env`. A fault of several services is reported once
 */
export function readAllSettings(
  environments: ReadonlyMap<ServiceName, NodeJS.ProcessEnv>,
  env: NodeJS.ProcessEnv,
): Map<ServiceName, ServiceConfig> {
  const configs = new Map<ServiceName, ServiceConfig>();
  const faults: Fault[] = [];
  for (const [service, own] of environments) {
    try {
      configs.set(service, serviceConfigs[service].readConfig(own));
    } catch (error) {
      if (!(error instanceof InvalidSettings)) throw error;
      faults.push(...error.faults.map((fault) => ({ service, fault })));
    }
  }
  faults.push(...portFaults(configs));
  if (faults.length === 0) faults.push(...signInFaults(environments));
  if (faults.length === 0) return configs;
  throw new InvalidSettings(describeFaults(faults, env));
}

function describeFaults(faults: readonly Fault[], env: NodeJS.ProcessEnv): string[] {
  const bySentence = Map.groupBy(faults, ({ service, fault }) =>
    fault.replace(/\b[A-Z][A-Z\d_]+\b/g, (name) => settingName(service, name, env)),
  );
  return [...bySentence].map(([sentence, same]) => {
    const namesItsService = same.every(({ fault }) => fault !== sentence);
    return namesItsService ? sentence : `${same.map(({ service }) => service).join(', ')}: ${sentence}`;
  });
}

/** Every port of a service; `name` is its setting. */
export function portsOf(configs: ReadonlyMap<ServiceName, ServiceConfig>) {
  return [...configs].flatMap(([service, { HOST: host, PORT, OPS_PORT }]) =>
    Object.entries({ PORT, OPS_PORT }).flatMap(([name, port]) =>
      port === undefined ? [] : [{ service, name, host, port }],
    ),
  );
}

// Services find each other by these ports, so each must be fixed and used once.
function portFaults(configs: ReadonlyMap<ServiceName, ServiceConfig>): Fault[] {
  const ports = portsOf(configs);
  const unset = ports.filter(({ port }) => port === 0);
  const clashing = [...Map.groupBy(ports, ({ port }) => port)].filter(
    ([port, users]) => port !== 0 && users.length > 1,
  );
  return [
    ...unset.map(({ service, name }) => ({ service, fault: `${name} must not be 0` })),
    ...clashing.flatMap(([port, users]) =>
      users.map(({ service, name }) => ({ service, fault: `${name} is ${port}, which is used more than once` })),
    ),
  ];
}

/** People can sign in only at a provider that the auth-verifier knows, with its profile. */
function signInFaults(environments: ReadonlyMap<ServiceName, NodeJS.ProcessEnv>): Fault[] {
  const { WEB_UPLOAD, WEB_SIGN_IN } = serviceConfigs.site.readConfig(environments.get('site') ?? {});
  const { IDENTITY_PROVIDERS } = serviceConfigs['auth-verifier'].readConfig(environments.get('auth-verifier') ?? {});
  if (WEB_UPLOAD === '0') return [];
  return WEB_SIGN_IN.flatMap(({ provider, profile }) => {
    const known = IDENTITY_PROVIDERS.find(({ advertised }) => advertised === provider);
    if (known?.profile === providerProfiles[profile]) return [];
    const remedy = known
      ? `which has another profile in IDENTITY_PROVIDERS: write "${profile} ${provider}" there`
      : 'which IDENTITY_PROVIDERS lacks';
    return [{ service: 'site', fault: `WEB_SIGN_IN names ${provider} with the profile ${profile}, ${remedy}` }];
  });
}
