import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@echodrop/testkit/free-ports';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { parse, stringify } from 'yaml';

interface ApiResponse {
  readonly status: string;
  readonly error?: string;
  readonly data: { result: { value: [time: number, value: string] }[]; groups: { rules: Rule[] }[] };
}

interface Rule {
  readonly name: string;
  readonly type: 'alerting' | 'recording';
  readonly health: string;
  readonly lastError?: string;
}

export interface RunningPrometheus extends AsyncDisposable {
  /** What a query gives now, without the labels. @throws Error where it cannot be evaluated */
  values(query: string): Promise<number[]>;
  rules(): Promise<Rule[]>;
}

/**
 * Starts the prometheus that is in PATH with our settings and rules, but for two things: it scrapes `targets`, which have the jobs' names and an
 * address each, and does so every second.
 */
export async function startPrometheus(
  targets: readonly (readonly [job: string, address: string])[],
): Promise<RunningPrometheus> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-prometheus-'))).path;
  const settings = parse(await readFile(new URL('./prometheus.yml', import.meta.url), 'utf8'));
  const addresses = new Map(targets);
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: settings.rule_files.map((pattern: string) => join(import.meta.dirname, pattern)),
    scrape_configs: settings.scrape_configs
      .filter(({ job_name }: { job_name: string }) => addresses.has(job_name))
      .map(({ job_name }: { job_name: string }) => ({
        job_name,
        static_configs: [{ targets: [addresses.get(job_name)] }],
      })),
  };
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const data = `--storage.tsdb.path=${join(folder, 'data')}`;
  const command = ['prometheus', `--config.file=${file}`, data, `--web.listen-address=${address}`] as const;
  parts.use(await ServerProcess.start({ command, isReady: async () => (await fetch(`http://${address}/-/ready`)).ok }));
  const get = async (path: string) => {
    const response = (await (await fetch(`http://${address}/api/v1/${path}`)).json()) as ApiResponse;
    if (response.status !== 'success') throw new Error(response.error);
    return response.data;
  };
  const held = parts.move();
  return {
    async values(query) {
      const { result } = await get(`query?query=${encodeURIComponent(query)}`);
      return result.map(({ value }) => Number(value[1]));
    },
    rules: async () => (await get('rules')).groups.flatMap(({ rules }) => rules),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}
