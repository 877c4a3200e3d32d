import type { Plugin } from 'vitest/config';
import { pictureProgramInSource } from './built-picture-program.ts';

const built = `(await (await import('@echodrop/testkit/built-picture-program')).builtPictureProgram())`;

/** A plugin of Vitest's configurations: renditions start the built picture program for each photo. */
export const buildPictureProgram: Plugin = {
  name: 'build-picture-program',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith('/picture-process.ts') ? code.replace(pictureProgramInSource, built) : null),
};
