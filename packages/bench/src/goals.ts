import { type Figure, type Figures, medianOf } from './figures.ts';

/** Ends the variant of a figure that was measured on processes that have served for a day. */
export const agedSuffix = ', aged';

/** Limits for a figure's median: required, and desired. */
interface Goal {
  readonly minimum: number;
  readonly aim: number;
}

const goals: Record<string, Goal> = {
  'upload path / naive, 200 KB': { minimum: 1.5, aim: 1 },
  'upload path / naive, 3 MB': { minimum: 0.65, aim: 0.45 },
  'upload path / naive, 100 MiB': { minimum: 0.45, aim: 0.3 },
  'gateway / naive, 200 KB': { minimum: 0.75, aim: 0.5 },
  'gateway / naive, 3 MB': { minimum: 0.55, aim: 0.4 },
  'gateway / naive, 100 MiB': { minimum: 0.33, aim: 0.25 },
  'pass-through / gateway, 200 KB': { minimum: 0.3, aim: 0.45 },
  'pass-through / gateway, 3 MB': { minimum: 0.5, aim: 0.65 },
  'pass-through / gateway, 100 MiB': { minimum: 0.6, aim: 0.75 },
  'idle p50 / naive, 200 KB': { minimum: 2, aim: 1.3 },
  'Redis commands outside scripts per upload, 200 KB': { minimum: 6, aim: 6 },
  'BullMQ scripts per upload, 200 KB': { minimum: 5.1, aim: 5.1 },
  'List calls per upload, 200 KB': { minimum: 0, aim: 0 },
  'cost at 128 connections / at 8, 200 KB': { minimum: 1.1, aim: 1.1 },
  'cost with 4 gateways / with 1, 200 KB': { minimum: 1.05, aim: 1.05 },
  'resident memory at 1 GiB less at 100 MiB': { minimum: 48, aim: 48 },
  'memory of 64 half-sent uploads / their bytes': { minimum: 1.25, aim: 1.25 },
  'memory of 64 half-sent resumable uploads / their bytes': { minimum: 1.25, aim: 1.25 },
  'pieces of 8 MiB / one request, 100 MiB': { minimum: 1.2, aim: 1.2 },
  'aged gateway / young, 200 KB': { minimum: 1.15, aim: 1.05 },
  'aged gateway / young, 100 MiB': { minimum: 1.15, aim: 1.05 },
  'resident memory of an aged gateway, after the day': { minimum: 350, aim: 250 },
  'resident memory of an aged gateway, after five quiet minutes': { minimum: 200, aim: 150 },
  'idle processor time, all services and Redis': { minimum: 1, aim: 1 },
  'pictures / plain sharp, 200 KB': { minimum: 0.9, aim: 0.5 },
  'pictures / plain sharp, 12 MP': { minimum: 0.5, aim: 0.35 },
  'first picture of a page, 1 MP': { minimum: 2, aim: 1 },
  'first picture of a page, 12 MP': { minimum: 2, aim: 1 },
  'direct link, 1 MP': { minimum: 2, aim: 1 },
  'direct link, 12 MP': { minimum: 2, aim: 1 },
  'poster of a copied video, 8 s 720p': { minimum: 2, aim: 1 },
  'copied video plays, 8 s 720p': { minimum: 5, aim: 2.5 },
  'copied videos that moved to the slow lane, 8 s 720p': { minimum: 0, aim: 0 },
  'pictures under npm start / in images, 1 MP': { minimum: 1.15, aim: 1.0 },
  'p99 with slow connections / without': { minimum: 2, aim: 2 },
  'failed uploads with slow connections': { minimum: 0, aim: 0 },
  'page beside 2,000 slow viewers / alone, folder': { minimum: 2, aim: 2 },
  'page beside 2,000 slow viewers / alone, MinIO': { minimum: 2, aim: 2 },
  'memory of the site for 2,000 slow viewers, folder': { minimum: 256, aim: 256 },
  'memory of the site for 2,000 slow viewers, MinIO': { minimum: 256, aim: 256 },
  'memory of the gateway for 64 unread lists, folder': { minimum: 256, aim: 256 },
  'memory of the gateway for 64 unread lists, MinIO': { minimum: 256, aim: 256 },
  'ready beside expensive videos / alone, photo': { minimum: 2, aim: 2 },
  'ready beside expensive videos / alone, short video': { minimum: 2, aim: 2 },
  'worst time for 1 MiB of header parameters, one value': { minimum: 50, aim: 50 },
  'worst time for 1 MiB of header parameters, values of 16 KiB': { minimum: 50, aim: 50 },
  'copied video / plain ffmpeg, 10 s 1080p': { minimum: 1.1, aim: 1.1 },
  'site / express.static, picture, folder': { minimum: 1.5, aim: 1 },
  'site / express.static, page, folder': { minimum: 2.5, aim: 1.5 },
  'site / express.static, picture, S3': { minimum: 1.5, aim: 1 },
  'site / express.static, page, S3': { minimum: 2.5, aim: 1.5 },
  'hot, through the proxy / nginx, picture, folder': { minimum: 3, aim: 1.5 },
  'hot, through the proxy / nginx, picture, S3': { minimum: 3, aim: 1.5 },
  'store calls for a page with its picture, warm, folder': { minimum: 1, aim: 0 },
  'store calls for a page with its picture, warm, S3': { minimum: 1, aim: 0 },
  'rendition jobs for 1,000 readers of a new upload, folder': { minimum: 1, aim: 1 },
  'rendition jobs for 1,000 readers of a new upload, S3': { minimum: 1, aim: 1 },
  'store reads for 1,000 readers of a new upload, folder': { minimum: 2, aim: 2 },
  'store reads for 1,000 readers of a new upload, S3': { minimum: 2, aim: 2 },
  ...bothStores('sweep that reads all records, with ten times as many uploads, per upload', { minimum: 1.2, aim: 1 }),
  ...bothStores('sweep after another, with ten times as many uploads, per upload', { minimum: 1.2, aim: 1 }),
  ...bothStores('memory of sweep after another, with ten times as many uploads', { minimum: 1.1, aim: 1 }),
  ...bothStores('sweep after another, per upload', { minimum: 0.3, aim: 0.1 }),
  ...bothStores('list page of an owner with a quarter of all uploads / with 100 uploads', { minimum: 1.5, aim: 1.1 }),
};

function bothStores(name: string, goal: Goal): Record<string, Goal> {
  return { [`${name}, folder`]: goal, [`${name}, MinIO`]: goal };
}

export type Verdict = 'aim met' | 'minimum met' | 'missed';

/** The goal of a figure. Processes that have aged have the same goals as others. */
export function goalOf({ name, variant }: Figure): Goal | undefined {
  return goals[variant ? `${name}, ${variant.replace(agedSuffix, '')}` : name];
}

/** The figures of Echodrop that miss their goals. With several checkouts, those of the first. */
export function missedOf({ all }: Pick<Figures, 'all'>): Figure[] {
  return all.filter((figure) => figure.system === 'echodrop' && verdictOf(figure) === 'missed');
}

/** Compares the median of a figure with its goal; undefined without a goal. More is better if the aim exceeds the minimum. */
export function verdictOf(figure: Figure): Verdict | undefined {
  const goal = goalOf(figure);
  if (!goal) return undefined;
  const value = medianOf(figure.values);
  const reaches = (limit: number) => (goal.aim > goal.minimum ? value >= limit : value <= limit);
  if (reaches(goal.aim)) return 'aim met';
  return reaches(goal.minimum) ? 'minimum met' : 'missed';
}
