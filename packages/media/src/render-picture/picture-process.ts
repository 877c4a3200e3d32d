import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { inTime } from '../render-video/render-time.ts';
import type { Rendered } from '../rendition-outcome.ts';
import { boundedEnd, ToolFailed, ToolStopped } from '../sandbox/bounded-process.ts';
import { startInSandbox, type ToolLimits } from '../sandbox/sandbox.ts';
import { collectOutput, parseAnswer } from '../sandbox/tool-answer.ts';
import { requireSource, requireSpace } from '../sandbox/tool-disk.ts';
import { maxFolderBytes, maxOutputBytes } from '../sandbox/tool-output.ts';
import { unsupportedReasons } from '../unsupported.ts';
import { begun, type PictureJob, type PictureJobEnd, type ProcessBudget } from './picture-job.ts';

const program = fileURLToPath(new URL('picture-program.ts', import.meta.url));
const workspace = fileURLToPath(new URL('../../../..', import.meta.url));
// What the program is made of: code and packages, and no file of an operator.
const code = [dirname(program), ...['packages', 'node_modules', 'package.json'].map((name) => join(workspace, name))];

const GiB = 1024 ** 3;
const limits: ToolLimits = {
  seconds: 180,
  cpuSeconds: 240,
  addressBytes: 16 * GiB,
  // What JavaScript and WebAssembly reserve is far more than they use and differs from run to run: this bounds what is really written
  // to. Half a GiB of it is node's own; a photo of 100 million pixels needs one or two more, an AVIF three.
  dataBytes: 4 * GiB,
  fileBytes: maxOutputBytes.picture,
};
const mostOutputBytes = 64 * 1024;

const nodeFlags = ['--disable-wasm-trap-handler', '--max-old-space-size=256', '--no-warnings'];

const endShape: z.ZodType<PictureJobEnd> = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('made') }),
  z.object({ outcome: z.literal('unsupported'), why: z.enum(unsupportedReasons) }),
  z.object({ outcome: z.literal('failed'), message: z.string() }),
]);

/**
 * Makes pictures in a process of its own: decoders of foreign bytes get no setting, no secret and no network, and are
 * killed when they take too long, which neither sharp nor WebAssembly could otherwise be. However it ends, a picture
 * that lies at its path is whole.
 *
 * Rejects if it broke down: no space on the disk, the media is gone from it, the process did not start or was killed (ToolStopped), `signal` aborted.
 */
export async function makePictures(
  job: PictureJob,
  signal: AbortSignal,
  { seconds = limits.seconds, niceness }: ProcessBudget = {},
): Promise<Rendered> {
  signal.throwIfAborted();
  const writes = new Set(job.pictures.map(({ path }) => dirname(path)));
  const files = { reads: [job.source.path, ...code], writes: [...writes] };
  const tool = [process.execPath, ...nodeFlags, program, JSON.stringify(job)] as const;
  const child = startInSandbox([...tool], { ...limits, seconds, niceness }, files);
  const printed = collectOutput(child);
  const [folder = dirname(job.source.path)] = writes;
  const output = { folder, maxBytes: maxFolderBytes };
  const end = await inTime(seconds, signal, (within) =>
    boundedEnd(child, { deadlineMs: seconds * 1000, mostOutputBytes, signal: within, output }),
  );
  if (end === 'too_costly' || end === 'timed_out') return { outcome: 'unsupported', why: end };
  // libheif's wrapper prints what it does not understand: the first and the last line are ours.
  const { stdout, stderr } = printed();
  const [first, ...others] = stdout.trimEnd().split('\n');
  if (first !== begun) {
    throw new ToolFailed('the process that makes pictures could not begin', { cause: new Error(stderr) });
  }
  const told = end === 'done' ? parseAnswer(others.at(-1) ?? '', endShape) : undefined;
  if (told?.outcome !== 'made') await requireSource(job.source.path, 'the process that makes pictures');
  // Crashed, out of memory, or taken over: only its input explains that.
  if (!told) return { outcome: 'unsupported', why: 'broken' };
  if (told.outcome === 'failed') {
    await requireSpace(folder, job.pictures.length * limits.fileBytes);
    // A compromised process can say so too.
    throw new ToolStopped(`pictures could not be made: ${told.message}`);
  }
  return told;
}
