import { builtService } from './built-service.ts';

/**
 * How the source of picture-process.ts finds the program that makes pictures. Tests replace it by the built program, as images have it: from source,
 * each start takes four times as long.
 */
export const pictureProgramInSource = `fileURLToPath(new URL('picture-program.ts', import.meta.url))`;

/** The path of the built program. */
export async function builtPictureProgram(): Promise<string> {
  const path = await builtService('rendition-worker');
  return path.replace('main.js', 'picture-program.js');
}
