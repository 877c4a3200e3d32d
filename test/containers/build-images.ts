import { buildImages } from './compose-system.ts';

/** Vitest's global setup: builds all images once for the whole run. */
export async function setup(): Promise<void> {
  const seconds = await buildImages();
  process.stdout.write(`Built the images in ${Math.round(seconds)} s\n`);
}
