import { drawPictures } from './draw-pictures.ts';
import { begun, type PictureJob, type PictureJobEnd } from './picture-job.ts';

/**
 * The program in which photos are decoded and pictures made, started by picture-process.ts within limits: whatever a
 * decoder does with foreign bytes, it does here, and dies with it.
 */
process.stdout.write(`${begun}\n`);
const job = JSON.parse(process.argv[2] ?? '') as PictureJob;
const end: PictureJobEnd = await drawPictures(job).catch((error: unknown) => ({
  outcome: 'failed' as const,
  message: error instanceof Error ? error.message : String(error),
}));
process.stdout.write(`${JSON.stringify(end)}\n`);
