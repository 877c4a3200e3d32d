import { graceFaults } from './grace-periods.ts';
import { imageFaults } from './images.ts';
import type { Manifest } from './manifests.ts';
import { metricNameFaults } from './metric-names.ts';
import { networkFaults } from './network.ts';
import { podSecurityFaults } from './pod-security.ts';
import { portFaults } from './ports.ts';
import { resourceFaults } from './resources.ts';
import { selectorFaults } from './selectors.ts';
import { settingFaults } from './settings.ts';

const checks = [
  settingFaults,
  portFaults,
  selectorFaults,
  networkFaults,
  podSecurityFaults,
  resourceFaults,
  graceFaults,
  imageFaults,
  metricNameFaults,
];

/** Everything that is wrong with the manifests of one overlay, one sentence each. */
export function allFaults(manifests: readonly Manifest[]): string[] {
  return checks.flatMap((check) => check(manifests));
}
