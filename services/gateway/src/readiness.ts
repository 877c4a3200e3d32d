import { setTimeout as sleep } from 'node:timers/promises';
import type { ProbeClient } from '@echodrop/contracts/probe';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Health } from '@echodrop/service/health';
import { checkRedis, type RedisConnection } from '@echodrop/service/redis/redis';
import type { BlockList } from './admit/block-list.ts';

// A start waits no longer for the store.
const storeCheckMs = 2000;

interface ReadinessDeps {
  readonly store: Pick<ObjectStore, 'ready'>;
  readonly blocks: Pick<BlockList, 'ready'>;
  readonly probes: Pick<ProbeClient, 'ready'>;
  readonly verifier: Pick<VerificationClient, 'ready'>;
  readonly limitsRedis: RedisConnection;
}

/**
 * Adds the readiness checks of the gateway: what most uploads need, and the cache Redis, without which every upload is verified again, and rates
 * per user and API key are not limited. Waits for the first check of the store, at most two seconds.
 */
export async function addReadinessChecks(
  health: Health,
  { store, blocks, probes, verifier, limitsRedis }: ReadinessDeps,
): Promise<void> {
  health.addCheck('store', () => store.ready());
  health.addCheck('blocks', () => blocks.ready());
  // The queue Redis.
  health.addCheck('queue', () => probes.ready());
  health.addCheck('verifier', () => verifier.ready());
  health.addOptionalCheck('cache', () => checkRedis(limitsRedis));
  await Promise.race([store.ready().catch(() => {}), sleep(storeCheckMs, undefined, { ref: false })]);
}
