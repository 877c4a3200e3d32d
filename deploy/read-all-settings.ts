import { FaultySettings } from '@echodrop/service/env';
import { configReaders, type ServiceConfig, type ServiceName } from './services.ts';

/**
 * Every service's settings, from the environment that it would get.
 * @throws FaultySettings with all faults of all services; one that several have is told once, with their names
 */
export function readAllSettings(
  environments: ReadonlyMap<ServiceName, NodeJS.ProcessEnv>,
): Map<ServiceName, ServiceConfig> {
  const configs = new Map<ServiceName, ServiceConfig>();
  const faults: { service: ServiceName; fault: string }[] = [];
  for (const [service, env] of environments) {
    try {
      configs.set(service, configReaders[service](env));
    } catch (error) {
      if (!(error instanceof FaultySettings)) throw error;
      faults.push(...error.faults.map((fault) => ({ service, fault })));
    }
  }
  faults.push(...portFaults(configs));
  if (faults.length === 0) return configs;
  const byFault = Map.groupBy(faults, ({ fault }) => fault);
  throw new FaultySettings(
    [...byFault].map(([fault, of]) => `${of.map(({ service }) => service).join(', ')}: ${fault}`),
  );
}

/** Every port that a service listens on: `name` is its setting. */
export function portsOf(configs: ReadonlyMap<ServiceName, ServiceConfig>) {
  return [...configs].flatMap(([service, { HOST: host, PORT, OPS_PORT }]) =>
    Object.entries({ PORT, OPS_PORT }).flatMap(([name, port]) =>
      port === undefined ? [] : [{ service, name, host, port }],
    ),
  );
}

// Addresses follow from ports here, so that a port cannot be left to the system, and one can be had once.
function portFaults(configs: ReadonlyMap<ServiceName, ServiceConfig>) {
  const ports = portsOf(configs);
  const unset = ports.filter(({ port }) => port === 0);
  const clashing = [...Map.groupBy(ports, ({ port }) => port)].filter(
    ([port, users]) => port !== 0 && users.length > 1,
  );
  return [
    ...unset.map(({ service, name }) => ({ service, fault: `${name} must not be 0` })),
    ...clashing.flatMap(([port, users]) =>
      users.map(({ service }) => ({ service, fault: `port ${port} is asked for more than once` })),
    ),
  ];
}
