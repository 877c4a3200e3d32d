import { InvalidSettings } from '@echodrop/service/env';
import { invalidSettingsStatus } from '@echodrop/service/run-service';
import { escapeLines } from '@echodrop/service/terminal-text';

/** Runs a system until it ends. Prints why it failed, unless it was stopped. @returns 0, 78 for invalid settings, 1 for other failures */
export async function exitStatusOf(run: () => Promise<void>, stopping: AbortSignal): Promise<number> {
  try {
    await run();
    return 0;
  } catch (error) {
    if (stopping.aborted) return 0;
    process.stderr.write(`${escapeLines(error instanceof Error ? error.message : `${error}`)}\n`);
    return error instanceof InvalidSettings ? invalidSettingsStatus : 1;
  }
}
