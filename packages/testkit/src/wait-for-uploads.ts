import type { Stack } from './start-stack.ts';
import { waitUntil } from './wait-until.ts';

/** Waits until the gateway has this number of uploads in flight. */
export function waitForUploads({ metrics }: Pick<Stack, 'metrics'>, uploads: number): Promise<void> {
  const gauge = `echodrop_uploads_in_flight{service="gateway"} ${uploads}\n`;
  return waitUntil(`${uploads} uploads in flight`, async () => (await metrics('gateway')).includes(gauge));
}
