import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The fields of a service in docker-compose.yml that tests use. */
export interface ComposeService {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command?: string | readonly string[];
  readonly build?: { readonly args: Readonly<Record<string, string>> };
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** A name if the file in the container has the same name. */
  readonly secrets?: readonly (string | { readonly source: string; readonly target: string })[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly logging?: { readonly driver: string; readonly options: Readonly<Record<string, string>> };
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly stop_grace_period?: string;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export const root = join(import.meta.dirname, '..');

export const composeText = readFileSync(join(root, 'docker-compose.yml'), 'utf8');

/** With merge keys applied and variables kept. */
export const composeFile = parse(composeText, { merge: true }) as ComposeFile;

/** The services whose images are ours, by name. */
export function ownServices(): [name: string, ComposeService][] {
  return Object.entries(composeFile.services).filter(([, { image }]) => image.startsWith('echodrop/'));
}
