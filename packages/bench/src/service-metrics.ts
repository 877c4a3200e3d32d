import type { System } from './systems.ts';

/** Calls of the object store that a service has made, or those of one operation; without health checks. */
export function storeCallsOf(system: System, service: string, operation = '(?!ready|read_body)\\w+'): Promise<number> {
  return sumOf(system, service, `echodrop_store_call_seconds_count\\{.*operation="${operation}",`);
}

/** Jobs of the queue `rendition-pictures` that have run. */
export function pictureJobsOf(system: System): Promise<number> {
  return sumOf(system, 'rendition-worker', 'echodrop_rendition_job_seconds_count\\{.*queue="rendition-pictures"');
}

/** The sum of all series whose line begins with a pattern. */
async function sumOf({ opsPorts = {} }: System, service: string, pattern: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${opsPorts[service]}/metrics`);
  const counts = (await response.text()).matchAll(new RegExp(`^${pattern}.*\\} (\\d+)$`, 'gm'));
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
