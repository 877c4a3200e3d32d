import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const names = ['upload-path', 'workers'] as const;

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { type: string; uid: string };
  readonly gridPos: Place;
  readonly fieldConfig?: { defaults: { unit?: string } };
  readonly targets?: readonly { refId: string; expr: string }[];
}

async function read(path: string): Promise<string> {
  return readFile(new URL(path, import.meta.url), 'utf8');
}

async function dashboard(name: string) {
  const { uid, title, panels, templating } = JSON.parse(await read(`dashboards/${name}.json`));
  return { uid, title, panels: panels as Panel[], variables: templating.list as { name: string }[] };
}

test.each(names)('%s: every panel has a title and a unit, and overlaps no other', async (name) => {
  const { panels } = await dashboard(name);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { title, type, description, datasource, fieldConfig, targets = [], gridPos: place } of panels) {
    expect(title).not.toBe('');
    expect(place.x + place.w).toBeLessThanOrEqual(24);
    const beside = panels.filter(({ gridPos }) => gridPos !== place && overlap(gridPos, place));
    expect(beside.map((other) => other.title)).toEqual([]);
    if (type === 'row') continue;
    expect(description).toBeTruthy();
    expect(fieldConfig?.defaults.unit).toBeTruthy();
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's syntax
    expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    expect(targets.length).toBeGreaterThan(0);
  }
});

test.each(names)('%s: every variable of a query is defined', async (name) => {
  const { panels, variables } = await dashboard(name);
  const used = JSON.stringify(panels).matchAll(/\$\{?(\w+)/g);
  const known = ['__rate_interval', ...variables.map((each) => each.name)];
  for (const [, variable] of used) expect(known).toContain(variable);
});

test('dashboards have unique ids, and names as documented', async () => {
  const [path, workers] = await Promise.all(names.map(dashboard));
  expect([path?.title, workers?.title]).toEqual(['Upload path', 'Workers']);
  expect(path?.uid).not.toBe(workers?.uid);
});

test('Grafana finds the Prometheus and the dashboards of the compose file', async () => {
  const compose = parse(await read('../../docker-compose.yml'), { merge: true });
  const { volumes } = compose.services.grafana;
  const { providers } = parse(await read('provisioning/dashboards/echodrop.yml'));
  expect(volumes).toContain(`./deploy/grafana/dashboards:${providers[0].options.path}:ro`);
  expect(volumes).toContain('./deploy/grafana/provisioning:/etc/grafana/provisioning:ro');
  const { datasources } = parse(await read('provisioning/datasources/prometheus.yml'));
  expect(Object.keys(compose.services)).toContain(new URL(datasources[0].url).hostname);
  expect(compose.services.prometheus.volumes).toContain('./deploy/prometheus:/etc/prometheus:ro');
  const { global } = parse(await read('../prometheus/prometheus.yml'));
  expect(datasources[0].jsonData.timeInterval).toBe(global.scrape_interval);
});

test('Prometheus scrapes every service of the compose file at its metrics port', async () => {
  const { services } = parse(await read('../../docker-compose.yml'), { merge: true });
  const { scrape_configs } = parse(await read('../prometheus/prometheus.yml'));
  const scraped = scrape_configs.map(
    (job: { job_name: string; dns_sd_configs: [{ names: string[]; port: number }] }) => {
      expect(job.dns_sd_configs[0].names).toEqual([job.job_name]);
      return job.job_name;
    },
  );
  const ours = Object.entries<{ image?: string }>(services).filter(([name, { image }]) => {
    return image?.startsWith(`echodrop/${name}:`) && !['proxy', 'admin'].includes(name);
  });
  expect([...ours.map(([name]) => name), 'node-exporter'].sort()).toEqual(scraped.sort());
});

function overlap(one: Place, other: Place): boolean {
  const apart = one.x + one.w <= other.x || other.x + other.w <= one.x || one.y + one.h <= other.y;
  return !apart && other.y + other.h > one.y;
}
