import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Rendered, type RenditionReason, unsupported, unsupportedReasons } from '../outcomes.ts';
import { parseToolJson, runTool, ToolFailed, ToolStopped } from '../sandbox/run-tool.ts';
import { requireSource, requireSpace } from '../sandbox/tool-disk.ts';
import { maxFolderBytes, pictureProcessLimits, type ToolBudget } from '../sandbox/tool-limits.ts';
import { completeLine, type PictureJob, type PictureToMake, startLine } from './picture-job.ts';

const program = fileURLToPath(new URL('picture-program.ts', import.meta.url));
const workspace = fileURLToPath(new URL('../../../..', import.meta.url));
// The process may read the program's code and packages, but no file of an operator.
const code = [dirname(program), ...['packages', 'node_modules', 'package.json'].map((name) => join(workspace, name))];
const processName = 'the picture process';

const nodeFlags = ['--disable-wasm-trap-handler', '--max-old-space-size=256', '--no-warnings'];

const endShape = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('made') }),
  z.object({ outcome: z.literal('unsupported'), why: z.enum(unsupportedReasons) }),
  z.object({ outcome: z.literal('failed'), message: z.string() }),
]);

/** The result that the process prints. `failed`: it broke down, and the media need not be at fault. */
export type PictureJobEnd = z.infer<typeof endShape>;

/** How the process ended, and the pictures that are complete. */
export interface PicturesMade {
  readonly rendered: Rendered;
  readonly made: readonly PictureToMake[];
}

/**
 * Makes pictures in a separate process: decoders of untrusted bytes get no settings, secrets or network, and can be killed,
 * which sharp and WebAssembly do not allow otherwise.
 * @throws ToolFailed if the disk is full, the media is gone, or the process did not start; ToolStopped if it was killed or
 * broke down; the reason of `signal`
 */
export async function makePictures(job: PictureJob, budget: ToolBudget, signal: AbortSignal): Promise<PicturesMade> {
  signal.throwIfAborted();
  const { path } = job.source;
  const folder = dirname(job.pictures[0]?.path ?? path);
  const files = { reads: [path, ...code], output: { folder, maxBytes: maxFolderBytes } };
  const tool = [process.execPath, ...nodeFlags, program, JSON.stringify(job)] as const;
  const run = await runTool(tool, { ...pictureProcessLimits, ...budget }, { ...files, signal });
  // Between the first and the last line, libheif's wrapper prints what it does not understand.
  const [first, ...others] = run.stdout.trimEnd().split('\n');
  const endEarly = (why: RenditionReason): PicturesMade => ({
    rendered: unsupported(why),
    made: job.pictures.filter((picture) => others.includes(completeLine(picture.path))),
  });
  if (run.end === 'timed_out' || run.end === 'too_costly') return endEarly(run.end);
  if (first !== startLine) throw new ToolFailed(`${processName} did not start`, { cause: new Error(run.stderr) });
  const result = run.end === 'done' ? parseToolJson(others.at(-1) ?? '', endShape) : undefined;
  if (result?.outcome === 'made') return { rendered: result, made: job.pictures };
  await requireSource(path, processName);
  if (result?.outcome === 'failed') {
    await requireSpace(folder, job.pictures.length * pictureProcessLimits.fileBytes);
    // A compromised process can print this result, too.
    throw new ToolStopped(`${processName} failed: ${result.message}`);
  }
  // Without a result, the process crashed, had no memory left, or is compromised. Only the input explains that.
  return endEarly(result?.why ?? 'broken');
}
