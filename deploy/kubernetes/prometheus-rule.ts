/** Writes deploy/prometheus/rules as a PrometheusRule for the Prometheus Operator: `node deploy/kubernetes/prometheus-rule.ts`. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

const rules = join(import.meta.dirname, '../prometheus/rules');

export const prometheusRuleFile = join(import.meta.dirname, 'components/monitoring/prometheus-rule.yaml');

/** The content of `prometheusRuleFile`. */
export function prometheusRule(): string {
  const files = readdirSync(rules).filter((name) => name.endsWith('.yml'));
  const groups = files.sort().flatMap((name) => {
    const read = parse(readFileSync(join(rules, name), 'utf8')) as { groups: unknown[] };
    return read.groups;
  });
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'echodrop' },
    spec: { groups },
  };
  return `# Made of deploy/prometheus/rules by node deploy/kubernetes/prometheus-rule.ts; a test holds them together.
# runbook_url is a path in the repository: put the address of the repository before it in your notification template.\n${stringify(manifest, { lineWidth: 0 })}`;
}

if (import.meta.main) writeFileSync(prometheusRuleFile, prometheusRule());
