import { spawn } from 'node:child_process';
import { boundedEnd, type ToolEnd } from './bounded-process.ts';

export interface FfmpegLimits {
  readonly seconds: number;
  /** Of all its threads together. */
  readonly cpuSeconds: number;
  readonly addressBytes: number;
  /** Of what it writes. */
  readonly fileBytes: number;
  /** Width x height of any frame that it decodes. */
  readonly maxPixels: number;
}

const mostOutputBytes = 256 * 1024;
const margin = 2;

/**
 * Runs ffmpeg on one local file. `input` holds the guards and the path, `output` what to make and where. It sees no
 * setting or secret of the service, its whole process group is dead when this settles, and `timeout` sees to that even
 * when this process is killed meanwhile.
 *
 * Rejects with ToolFailed where ffmpeg is missing or not done in time, or with the signal's reason.
 */
export async function runFfmpeg(
  { input, output }: { input: readonly string[]; output: readonly string[] },
  limits: FfmpegLimits,
  signal: AbortSignal,
): Promise<ToolEnd> {
  signal.throwIfAborted();
  const bounds = [
    ...['--signal=KILL', String(limits.seconds + margin)],
    ...[
      'prlimit',
      `--cpu=${limits.cpuSeconds}:${limits.cpuSeconds + margin}`,
      `--as=${limits.addressBytes}`,
      `--fsize=${limits.fileBytes}`,
    ],
    ...['--nofile=64', '--core=0'],
    ...['setpriv', '--no-new-privs'],
  ];
  const ffmpeg = ['ffmpeg', '-nostdin', '-y', '-v', 'fatal', '-abort_on', 'empty_output'];
  const decoding = ['-threads', '4', '-max_pixels', String(limits.maxPixels)];
  const child = spawn('timeout', [...bounds, ...ffmpeg, ...decoding, ...input, ...output], {
    detached: true,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return boundedEnd(child, { deadlineMs: limits.seconds * 1000, mostOutputBytes, signal });
}
