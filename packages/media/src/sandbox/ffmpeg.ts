import { dirname } from 'node:path';
import { runTool, type ToolEnd } from './run-tool.ts';
import { requireSource, requireSpace } from './tool-disk.ts';
import { addressBytesOf, type FfmpegLimits, maxFolderBytes } from './tool-limits.ts';

// ffmpeg exits alike after SIGTERM and SIGXCPU (CPU time limit); the fourth signal ends it at once.
const exitCodesOfSignals: readonly (number | null)[] = [255, 123];

// What it prints is limited (tool-limits.ts). A report has 250 bytes.
const maxReports = 3600;

/**
 * Runs ffmpeg on a local file, within limits.
 * @param args `input`: the guards and the path; `output`: the options and the path
 * @param onProgress gets the seconds of output that are done, every second or two
 * @throws ToolFailed if ffmpeg is missing or killed, the input is gone or the disk is full; the reason of `signal`
 */
export async function runFfmpeg(
  { input, output }: { readonly input: readonly string[]; readonly output: readonly string[] },
  limits: FfmpegLimits,
  signal: AbortSignal,
  onProgress?: (seconds: number) => void,
): Promise<ToolEnd> {
  signal.throwIfAborted();
  const options = ['-nostdin', '-y', '-v', 'fatal', '-abort_on', 'empty_output', '-max_pixels', `${limits.maxPixels}`];
  const period = Math.max(1, limits.seconds / maxReports);
  const reports = onProgress ? ['-progress', 'pipe:1', '-stats_period', `${period}`] : [];
  const source = fileIn(input);
  const target = fileIn(output);
  const folder = target && dirname(target);
  const ffmpeg = ['ffmpeg', ...options, ...reports, ...input, ...output] as const;
  const { end, exitCode } = await runTool(
    ffmpeg,
    { ...limits, addressBytes: addressBytesOf.ffmpeg },
    {
      signal,
      onStdout: onProgress && ((text) => reportTime(text, onProgress)),
      reads: source ? [source] : [],
      output: folder ? { folder, maxBytes: maxFolderBytes } : undefined,
    },
  );
  if (source) await requireSource(source, 'ffmpeg');
  if (folder) await requireSpace(folder, limits.fileBytes);
  return exitCodesOfSignals.includes(exitCode) ? 'timed_out' : end;
}

// ffmpeg prints "N/A" before the first frame.
function reportTime(text: string, onProgress: (seconds: number) => void): void {
  const microseconds = /^out_time_us=(\d{1,15})$/m.exec(text)?.[1];
  if (microseconds !== undefined) onProgress(Number(microseconds) / 1e6);
}

function fileIn(args: readonly string[]): string | undefined {
  return args.find((each) => each.startsWith('file:'))?.slice('file:'.length);
}
