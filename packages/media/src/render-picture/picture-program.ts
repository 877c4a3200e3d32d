import { drawPictures } from './draw-pictures.ts';
import { completeLine, type PictureJob, startLine } from './picture-job.ts';
import type { PictureJobEnd } from './picture-process.ts';

/** The program that decodes photos and makes pictures, started by picture-process.ts within limits. */
print(startLine);
const job = JSON.parse(process.argv[2] ?? '') as PictureJob;
const drawing = drawPictures(job, (path) => print(completeLine(path)));
const end: PictureJobEnd = await drawing.catch((error: unknown) => ({
  outcome: 'failed' as const,
  message: error instanceof Error ? error.message : String(error),
}));
print(JSON.stringify(end));

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
