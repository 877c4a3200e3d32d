import type { Health } from '@echodrop/service/health';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { runTool, ToolFailed } from './run-tool.ts';
import { type SandboxMode, setSandboxMode, type ToolLimits } from './sandbox.ts';

interface Reporting {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: Pick<Health, 'setDetail'>;
}

/**
 * Sets how the media tools of this process are confined, and reports it in the log, a gauge and /readyz.
 * @throws if this machine cannot confine them so; the message names the missing feature
 */
export async function confineTools(mode: SandboxMode, { log, metrics, health }: Reporting): Promise<void> {
  setSandboxMode(mode);
  const fault = await sandboxFault();
  if (fault) {
    const advice = mode === 'full' ? '. MEDIA_SANDBOX=limits-only runs them with limits alone' : '';
    throw new Error(`media tools cannot be confined on this machine: ${fault}${advice}`);
  }
  const isFull = mode === 'full';
  health.setDetail('mediaSandbox', mode);
  const help = '1 if media tools run under Landlock and seccomp, 0 if only under resource limits.';
  metrics.gauge('echodrop_media_sandbox_full', help).set(isFull ? 1 : 0);
  if (isFull) log.info({ mode }, 'Media tools run under Landlock and seccomp');
  else
    log.warn(
      { mode },
      'Media tools run under resource limits only; a compromised decoder can reach what this worker can',
    );
}

const trialLimits: ToolLimits = { seconds: 10, cpuSeconds: 5, addressBytes: 16 * 1024 ** 3, fileBytes: 0 };
const trialTools = [
  [process.execPath, '--version'],
  ['ffprobe', '-version'],
  ['ffmpeg', '-version'],
] as const;

/**
 * Starts each media tool in the mode that is set. Returns why one does not run, or undefined. In `full`, a tool outside the
 * system's folders may not find its libraries. A missing tool is no fault here.
 */
export async function sandboxFault(): Promise<string | undefined> {
  const faults = await Promise.all(trialTools.map(toolFault));
  return faults.find((fault) => fault && !fault.endsWith('is not in PATH'));
}

async function toolFault(tool: readonly [string, ...string[]]): Promise<string | undefined> {
  const run = await runTool(tool, trialLimits, { signal: new AbortController().signal }).catch((error: Error) => ({
    end: error.message,
    stderr: error instanceof ToolFailed ? error.stderr : '',
  }));
  const [line] = run.stderr.trim().split('\n', 1);
  return run.end === 'done' ? undefined : line || `${tool[0]}: ${run.end}`;
}
