import { type ServiceName, serviceConfigs } from './local/services.ts';

/** The names of the settings of a service. Secrets have no `_FILE`. */
export function settingsOf(service: ServiceName): string[] {
  const read = new Set<string>();
  const env = new Proxy<NodeJS.ProcessEnv>({}, { get: (_target, name) => void read.add(String(name)) });
  try {
    serviceConfigs[service].readConfig(env);
  } catch {
    // Required settings are missing.
  }
  return [...read].filter((name) => !(name.endsWith('_FILE') && read.has(name.replace(/_FILE$/, ''))));
}
