import { boundedEnd, type ToolEnd } from './bounded-process.ts';
import { startWithinLimits, type ToolLimits, toolNamespaces } from './within-limits.ts';

export interface FfmpegLimits extends ToolLimits {
  /** Width x height of any frame that it decodes. */
  readonly maxPixels: number;
}

const mostOutputBytes = 256 * 1024;

/**
 * Runs ffmpeg on one local file, within limits. `input` holds the guards and the path, `output` what to make and where.
 *
 * Rejects with ToolFailed where ffmpeg is missing or not done in time, or with the signal's reason.
 */
export async function runFfmpeg(
  { input, output }: { input: readonly string[]; output: readonly string[] },
  limits: FfmpegLimits,
  signal: AbortSignal,
): Promise<ToolEnd> {
  const namespaces = await toolNamespaces();
  signal.throwIfAborted();
  const ffmpeg = ['ffmpeg', '-nostdin', '-y', '-v', 'fatal', '-abort_on', 'empty_output'] as const;
  const decoding = ['-threads', '4', '-max_pixels', String(limits.maxPixels)];
  const child = startWithinLimits([...ffmpeg, ...decoding, ...input, ...output], limits, namespaces);
  return boundedEnd(child, { deadlineMs: limits.seconds * 1000, mostOutputBytes, signal });
}
