import { registerHooks } from 'node:module';
import { pictureProgramInSource } from '@echodrop/testkit/built-picture-program';

/** The variable with the path of the built picture program. */
const builtProgram = process.env['BUILT_PICTURE_PROGRAM'];

// Imported before a fixture that runs as a process of its own: it starts the built program, as tests do (vitest.config.ts).
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/picture-process.ts')) return loaded;
    return { ...loaded, source: String(loaded.source).replace(pictureProgramInSource, JSON.stringify(builtProgram)) };
  },
});
