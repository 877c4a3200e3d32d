import { readdir, readFile } from 'node:fs/promises';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { RunningService, System } from '../start-system.ts';
import type { Finding } from './finding.ts';

const MiB = 1024 * 1024;
const readyMs = 60_000;
// Idle connections close within 75 s.
const settleMs = 90_000;
const moreDescriptors = 30;
const moreBytes = 250 * MiB;

/** Resources of an idle process. */
export interface Held {
  readonly descriptors: number;
  readonly bytes: number;
}

/** Finds services that do not become ready by themselves. */
export async function findUnready({ services }: System): Promise<Finding[]> {
  const checks = services.map(async ({ name, ops }) => {
    const isReady = () => fetch(`${ops}/readyz`).then(({ ok }) => ok);
    return waitUntil(`readiness of ${name}`, isReady, readyMs).then(
      () => [],
      () => [{ scenario: 'all', what: 'does not become ready', which: name }],
    );
  });
  return (await Promise.all(checks)).flat();
}

/** The current resources of each service. */
export async function heldBy({ services }: System): Promise<Map<RunningService, Held>> {
  const held = services.map(async (service) => [service, await holdings(service)] as const);
  return new Map(await Promise.all(held));
}

/** Finds idle services that leak: they hold much more than `before`. */
export async function findLeaks(system: System, before: ReadonlyMap<RunningService, Held>): Promise<Finding[]> {
  const checks = system.services.map(async (service): Promise<Finding[]> => {
    const first = before.get(service) ?? { descriptors: 0, bytes: 0 };
    let now = await holdings(service);
    const isLeaking = () =>
      now.descriptors > first.descriptors + moreDescriptors || now.bytes > first.bytes + moreBytes;
    await waitUntil(
      'connections to close',
      async () => {
        now = await holdings(service);
        return !isLeaking();
      },
      settleMs,
    ).catch(() => {});
    const what = `leak: uses ${textOf(now)}; used ${textOf(first)} at the start`;
    return isLeaking() ? [{ scenario: 'all', what, which: service.name }] : [];
  });
  return (await Promise.all(checks)).flat();
}

function textOf({ descriptors, bytes }: Held): string {
  return `${descriptors} descriptors and ${Math.round(bytes / MiB)} MiB`;
}

async function holdings({ server }: RunningService): Promise<Held> {
  const files = await readdir(`/proc/${server.pid}/fd`);
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  return { descriptors: files.length, bytes: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024 };
}
