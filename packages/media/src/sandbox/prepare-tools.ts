import { createRequire } from 'node:module';
import sharp from 'sharp';
import type { MediaType } from '../detect-media-type.ts';
import { runTool, ToolFailed } from './run-tool.ts';
import { type SandboxMode, setSandboxMode } from './sandbox.ts';
import { addressBytesOf } from './tool-limits.ts';

/** The encoders of ffmpeg for videos that browsers play (render-video.ts). Fedora's `ffmpeg-free` lacks the first. */
const encoders = ['libx264', 'aac'];

/** The version of each media tool, with what it lacks; undefined if it cannot run. */
export type ToolVersions = Readonly<Record<'ffprobe' | 'ffmpeg' | 'sharp' | 'libheif-js', string | undefined>>;

type LogLine = (fields: object, message: string) => void;

/** What a worker says of its media tools, and where. */
interface Worker {
  readonly config: { readonly MEDIA_SANDBOX: SandboxMode; readonly MEDIA_TYPES_OFF: ReadonlySet<MediaType> };
  readonly log: { readonly info: LogLine; readonly warn: LogLine; readonly error: LogLine };
  readonly metrics: { gauge(name: string, help: string): { set(value: number): void } };
  readonly health: { setDetail(name: string, value: string): void };
}

/**
 * Sets how the media tools of this process are confined, and reports it in the log, a gauge and /readyz. Logs the versions
 * of the tools, those that cannot run, and the types that are turned off.
 * @throws if a media tool does not run in this mode; the message says why
 */
export async function prepareTools({ config, log, metrics, health }: Worker): Promise<ToolVersions> {
  const { MEDIA_SANDBOX: mode, MEDIA_TYPES_OFF: typesOff } = config;
  setSandboxMode(mode);
  const { fault, ffprobe, ffmpeg, lacking } = await tryTools();
  if (fault) throw toError(fault, mode);
  health.setDetail('mediaSandbox', mode);
  const help = '1 if media tools run under Landlock and seccomp, 0 if only under resource limits.';
  metrics.gauge('echodrop_media_sandbox_enforced', help).set(mode === 'full' ? 1 : 0);
  if (mode === 'full') log.info({ mediaSandbox: mode }, 'Media tools run under Landlock and seccomp');
  else
    log.warn(
      { mediaSandbox: mode },
      'Media tools run under resource limits only; a compromised decoder can reach what this worker can',
    );
  // Only the process that makes pictures loads its code.
  const libheif = createRequire(import.meta.url)('libheif-js/package.json') as { readonly version: string };
  // Other tools get other notes of what cannot be shown: once the encoders are there, it is tried again.
  const encoding = ffmpeg && [ffmpeg, ...lacking.map((encoder) => `without ${encoder}`)].join(' ');
  const tools = { ffprobe, ffmpeg: encoding, sharp: sharp.versions.sharp, 'libheif-js': libheif.version };
  log.info({ tools, typesOff: [...typesOff] }, 'Media tool versions');
  for (const [tool, version] of Object.entries(tools)) {
    if (version === undefined) log.warn({ tool }, 'Media tool cannot run; media that needs it will fail');
  }
  if (lacking.length > 0)
    log.error(
      { encoders: lacking },
      'ffmpeg lacks encoders: videos that need them cannot be shown. Install a complete ffmpeg',
    );
  return tools;
}

/** The error of a start whose media tools do not run in this mode. */
export function toError(fault: string, mode: SandboxMode): Error {
  const advice = mode === 'full' ? ' If the sandbox is the reason, set MEDIA_SANDBOX=limits-only.' : '';
  return new Error(`Media tool failed its test run with MEDIA_SANDBOX=${mode}: ${fault}.${advice}`);
}

/**
 * Why a media tool does not run in the mode that is set, or undefined. In `full`, a tool outside the system's folders may not
 * find its libraries. A missing tool is no fault here.
 */
export async function sandboxFault(): Promise<string | undefined> {
  return (await tryTools()).fault;
}

/** Starts each media tool once, with the address space that it has for media. */
async function tryTools() {
  const [node, ffprobe, ffmpeg, encoderList] = await Promise.all([
    tryTool(process.execPath, '--version', addressBytesOf.node),
    tryTool('ffprobe', '-version', addressBytesOf.ffprobe),
    tryTool('ffmpeg', '-version', addressBytesOf.ffmpeg),
    tryTool('ffmpeg', '-encoders', addressBytesOf.ffmpeg),
  ]);
  return {
    fault: [node, ffprobe, ffmpeg].find(({ fault }) => fault && !fault.endsWith('is not in PATH'))?.fault,
    ffprobe: versionIn(ffprobe.stdout),
    ffmpeg: versionIn(ffmpeg.stdout),
    /** Encoders that ffmpeg does not have. */
    lacking: ffmpeg.fault || encoderList.fault ? [] : missingEncoders(encoderList.stdout),
  };
}

/** The version in a line such as "ffprobe version 5.1.9-0+deb12u1 Copyright ...". */
function versionIn(stdout: string): string | undefined {
  return / version (\S+)/.exec(stdout)?.[1];
}

/** Which of the encoders for videos are not in the output of `ffmpeg -encoders`: " V....D libx264              libx264 H.264 / ...". */
export function missingEncoders(list: string): string[] {
  const names = new Set([...list.matchAll(/^ [VASFXBD.]{6} (\S+)/gm)].map(([, name]) => name));
  return encoders.filter((encoder) => !names.has(encoder));
}

/** Whether a fault is that the kernel lacks a feature, as the launcher says; else the tool, or the machine's load, is at fault. */
export function isOfKernel(fault: string): boolean {
  return /^sandbox: (Landlock|seccomp filter) /.test(fault);
}

async function tryTool(name: string, flag: string, addressBytes: number): Promise<{ fault?: string; stdout: string }> {
  const limits = { seconds: 10, cpuSeconds: 5, addressBytes, fileBytes: 0 };
  const run = await runTool([name, flag], limits, { signal: new AbortController().signal }).catch((error: Error) => ({
    end: error.message,
    stdout: '',
    stderr: error instanceof ToolFailed ? error.stderr : '',
  }));
  const [line] = run.stderr.trim().split('\n', 1);
  return run.end === 'done' ? run : { ...run, fault: line || `${name}: ${run.end}` };
}
