import { registerHooks } from 'node:module';

/** The variable with the path of the built picture program. */
const builtProgram = process.env['BUILT_PICTURE_PROGRAM'];
const source = `fileURLToPath(new URL('picture-program.ts', import.meta.url))`;

// Imported before a fixture that runs as a process of its own. As in tests (vitest.config.ts), it starts the built program: from source, each
// start takes four times as long.
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/picture-process.ts')) return loaded;
    return { ...loaded, source: String(loaded.source).replace(source, JSON.stringify(builtProgram)) };
  },
});
