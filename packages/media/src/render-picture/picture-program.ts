import { drawPictures } from './draw-pictures.ts';
import { type PictureJob, startMarker } from './picture-job.ts';
import type { PictureJobEnd } from './picture-process.ts';

/** The program that decodes photos and makes pictures, started by picture-process.ts within limits. */
process.stdout.write(`${startMarker}\n`);
const job = JSON.parse(process.argv[2] ?? '') as PictureJob;
const end: PictureJobEnd = await drawPictures(job).catch((error: unknown) => ({
  outcome: 'failed' as const,
  message: error instanceof Error ? error.message : String(error),
}));
process.stdout.write(`${JSON.stringify(end)}\n`);
