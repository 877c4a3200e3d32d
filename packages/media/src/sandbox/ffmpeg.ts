import { dirname } from 'node:path';
import { boundedEnd, type TimedEnd } from './bounded-process.ts';
import { startInSandbox, type ToolLimits } from './sandbox.ts';
import { requireSource, requireSpace } from './tool-disk.ts';
import { maxFolderBytes } from './tool-output.ts';

export interface FfmpegLimits extends ToolLimits {
  /** Width x height of any frame that it decodes. */
  readonly maxPixels: number;
}

const mostOutputBytes = 256 * 1024;
// ffmpeg handles SIGTERM and SIGXCPU (its limit of processor time) alike; the fourth ends it at once.
const stoppedBySignal: readonly (number | null)[] = [255, 123];

/**
 * Runs ffmpeg on one local file, within limits. `input` holds the guards and the path, `output` what to make and where.
 *
 * Rejects with ToolFailed where ffmpeg is missing or not done in time, where its input is gone or the disk full, or with the signal's
 * reason.
 */
export async function runFfmpeg(
  { input, output }: { input: readonly string[]; output: readonly string[] },
  limits: FfmpegLimits,
  signal: AbortSignal,
): Promise<TimedEnd> {
  signal.throwIfAborted();
  const ffmpeg = ['ffmpeg', '-nostdin', '-y', '-v', 'fatal', '-abort_on', 'empty_output'] as const;
  const decoding = ['-max_pixels', String(limits.maxPixels)];
  const [source, target] = [fileIn(input), fileIn(output)];
  const folder = target && dirname(target);
  const files = { reads: source ? [source] : [], writes: folder ? [folder] : [] };
  const child = startInSandbox([...ffmpeg, ...decoding, ...input, ...output], limits, files);
  const bounds = { deadlineMs: limits.seconds * 1000, mostOutputBytes, signal };
  const end = await boundedEnd(child, { ...bounds, ...(folder && { output: { folder, maxBytes: maxFolderBytes } }) });
  if (source) await requireSource(source, 'ffmpeg');
  if (folder) await requireSpace(folder, limits.fileBytes);
  return stoppedBySignal.includes(child.exitCode) ? 'timed_out' : end;
}

function fileIn(args: readonly string[]): string | undefined {
  return args.find((each) => each.startsWith('file:'))?.slice('file:'.length);
}
