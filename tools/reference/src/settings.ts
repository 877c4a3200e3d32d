import { serviceConfigs, serviceNames } from '../../../deploy/local/services.ts';
import { describeSetting } from './describe-setting.ts';
import { table } from './table.ts';

interface Setting {
  readonly name: string;
  readonly meaning: string;
  /** By the name of the service. */
  readonly defaults: Readonly<Record<string, string>>;
}

/** The tables of settings: of every process, of several services, and of each service. */
export function settingTables(): Record<string, string> {
  const byReaders = Map.groupBy(readSettings(), ({ defaults }) => {
    const readers = Object.keys(defaults);
    if (readers.length === serviceNames.length) return 'every process';
    return readers.length > 1 ? 'several services' : String(readers[0]);
  });
  return Object.fromEntries([...byReaders].map(([readers, settings]) => [readers, tableOf(readers, settings)]));
}

/** Settings with the same name and meaning are one. */
function readSettings(): Setting[] {
  const all = Object.entries(serviceConfigs).flatMap(([service, { settings }]) =>
    Object.entries(settings).map(([name, schema]) => ({ service, name, ...describeSetting(name, schema) })),
  );
  return [...Map.groupBy(all, ({ name, meaning }) => `${name} ${meaning}`).values()].flatMap((same) => {
    const defaults = Object.fromEntries(same.map((each) => [each.service, each.default]));
    return same.slice(0, 1).map(({ name, meaning }) => ({ name, meaning, defaults }));
  });
}

function tableOf(readers: string, settings: readonly Setting[]): string {
  const rows = settings.map(({ name, defaults, meaning }) => [`\`${name}\``, shownDefault(defaults), meaning]);
  if (readers !== 'several services') return table(['Setting', 'Default', 'Meaning'], rows);
  const withReaders = rows.map((row, n) => [...row, Object.keys(settings[n]?.defaults ?? {}).join(', ')]);
  return table(['Setting', 'Default', 'Meaning', 'Read by'], withReaders);
}

function shownDefault(defaults: Setting['defaults']): string {
  const [first = '', ...others] = new Set(Object.values(defaults));
  if (others.length === 0) return first;
  return Object.entries(defaults)
    .map(([service, value]) => `${service} ${value}`)
    .join(', ');
}
