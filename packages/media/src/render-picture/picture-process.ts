import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Rendered, unsupportedReasons } from '../outcomes.ts';
import { addressBytesOf } from '../sandbox/address-space.ts';
import { parseToolJson, runTool, ToolFailed, ToolStopped, withDeadline } from '../sandbox/run-tool.ts';
import type { ToolLimits } from '../sandbox/sandbox.ts';
import { requireSource, requireSpace } from '../sandbox/tool-disk.ts';
import { maxFolderBytes, maxOutputBytes } from '../sandbox/tool-output.ts';
import { type PictureJob, type ProcessBudget, startMarker } from './picture-job.ts';

const program = fileURLToPath(new URL('picture-program.ts', import.meta.url));
const workspace = fileURLToPath(new URL('../../../..', import.meta.url));
// The program's code and packages, but no file of an operator.
const code = [dirname(program), ...['packages', 'node_modules', 'package.json'].map((name) => join(workspace, name))];
const processName = 'the picture process';

const GiB = 1024 ** 3;
const limits: ToolLimits = {
  seconds: 180,
  cpuSeconds: 240,
  addressBytes: addressBytesOf.node,
  // JavaScript and WebAssembly reserve far more address space than they use, so this limits what is written to. Node takes
  // half a GiB; a photo of 100 million pixels needs one or two GiB more, an AVIF three.
  dataBytes: 4 * GiB,
  fileBytes: maxOutputBytes.picture,
};

const nodeFlags = ['--disable-wasm-trap-handler', '--max-old-space-size=256', '--no-warnings'];

const endShape = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('made') }),
  z.object({ outcome: z.literal('unsupported'), why: z.enum(unsupportedReasons) }),
  z.object({ outcome: z.literal('failed'), message: z.string() }),
]);

/** The result that the process prints. `failed`: it broke down, and the media need not be at fault. */
export type PictureJobEnd = z.infer<typeof endShape>;

/**
 * Makes pictures in a separate process: decoders of untrusted bytes get no settings, secrets or network, and can be killed,
 * which sharp and WebAssembly do not allow otherwise. However it ends,
 * a picture with its marker is complete.
 * @throws ToolFailed if the disk is full, the media is gone, or the process did not start; ToolStopped if it was killed or
 * broke down; the reason of `signal`
 */
export async function makePictures(
  job: PictureJob,
  signal: AbortSignal,
  { seconds = limits.seconds, cpuSeconds = limits.cpuSeconds, niceness }: ProcessBudget = {},
): Promise<Rendered> {
  signal.throwIfAborted();
  const { path } = job.source;
  const writes = [...new Set(job.pictures.map((picture) => dirname(picture.path)))];
  const [folder = dirname(path)] = writes;
  const files = { reads: [path, ...code], writes, output: { folder, maxBytes: maxFolderBytes } };
  const tool = [process.execPath, ...nodeFlags, program, JSON.stringify(job)] as const;
  const run = await withDeadline(seconds, signal, (signal) =>
    runTool(tool, { ...limits, seconds, cpuSeconds, niceness }, { ...files, signal }),
  );
  if (run === 'timed_out') return { outcome: 'unsupported', why: run };
  if (run.end === 'too_costly') return { outcome: 'unsupported', why: run.end };
  // Between our first and last line, libheif's wrapper prints what it does not understand.
  const [first, ...others] = run.stdout.trimEnd().split('\n');
  if (first !== startMarker) throw new ToolFailed(`${processName} did not start`, { cause: new Error(run.stderr) });
  const result = run.end === 'done' ? parseToolJson(others.at(-1) ?? '', endShape) : undefined;
  if (result?.outcome !== 'made') await requireSource(path, processName);
  // Crashed, out of memory, or compromised: only the input explains that.
  if (!result) return { outcome: 'unsupported', why: 'broken' };
  if (result.outcome === 'failed') {
    await requireSpace(folder, job.pictures.length * limits.fileBytes);
    // A compromised process can say so too.
    throw new ToolStopped(`${processName} failed: ${result.message}`);
  }
  return result;
}
