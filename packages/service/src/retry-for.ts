import { setTimeout as sleep } from 'node:timers/promises';

const pauseMs = 250;

/** Runs `work` again after each error that `isTransient` accepts, for `ms` milliseconds. @throws the last error */
export async function retryFor<T>(
  ms: number,
  work: () => Promise<T>,
  isTransient: (error: unknown) => boolean,
): Promise<T> {
  const end = performance.now() + ms;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || performance.now() >= end) throw error;
      await sleep(pauseMs);
    }
  }
}
