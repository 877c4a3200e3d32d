import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface Alert {
  readonly alert: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

interface AlertTest {
  readonly alertname: string;
  readonly exp_alerts?: readonly object[];
}

const here = import.meta.dirname;
const documents = join(here, '../..');

async function read<T>(pattern: string, within: (content: Record<string, T[]>) => T[]): Promise<T[]> {
  const files = await Array.fromAsync(glob(pattern, { cwd: here }));
  const contents = await Promise.all(files.map(async (file) => parse(await readFile(join(here, file), 'utf8'))));
  return contents.flatMap(within);
}

const groups = await read<{ rules: (Alert | { record: string })[] }>('rules/*.yml', (file) => file.groups ?? []);
const alerts = groups.flatMap(({ rules }) => rules).filter((rule) => 'alert' in rule);
const cases = await read<{ alert_rule_test: AlertTest[] }>('tests/*.yml', (file) => file.tests ?? []);

test('alert names are unique', () => {
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
});

test.each(alerts)('$alert has a severity, a description and a section of the documentation', async (alert) => {
  expect(Object.keys(alert.annotations)).toEqual(['summary', 'description', 'runbook_url']);
  expect(['page', 'ticket']).toContain(alert.labels.severity);
  const [file = '', anchor] = alert.annotations.runbook_url?.split('#') ?? [];
  expect(anchor).toBe(alert.alert.toLowerCase());
  const [, section] = (await readFile(join(documents, file), 'utf8')).split(`\n### ${alert.alert}\n`);
  expect(section?.split(/^##/m, 1)[0]?.trim().length).toBeGreaterThan(50);
});

test.each(alerts)('$alert has tests in which it fires, clears and stays silent', ({ alert }) => {
  const ofIt = cases.map(({ alert_rule_test }) => alert_rule_test.filter(({ alertname }) => alertname === alert));
  const fires = ({ exp_alerts = [] }: AlertTest) => exp_alerts.length > 0;
  const firesAndClears = ofIt.filter(
    (tests) => tests.some(fires) && tests.slice(tests.findLastIndex(fires) + 1).length > 0,
  );
  expect(firesAndClears.length).toBeGreaterThan(0);
  expect(ofIt.filter((tests) => tests.length > 0 && !tests.some(fires)).length).toBeGreaterThan(0);
});

await describeWithOpsCheckers('Prometheus', ['promtool'], () => {
  test('accepts its configuration and the rules', async () => {
    await execa('promtool', ['check', 'config', '--lint=all', '--lint-fatal', 'prometheus.yml'], { cwd: here });
  });

  test('passes the tests of alerts', async () => {
    const files = await Array.fromAsync(glob('tests/*.yml', { cwd: here }));
    await Promise.all(files.map((file) => execa('promtool', ['test', 'rules', file], { cwd: here, all: true })));
  });
});
