import { relative } from 'node:path';
import type { Plugin } from 'rolldown';

// Code that reads files beside itself, or is native.
const isExternal = /^(libheif-js|@node-rs\/crc32)(\/|$)/;

/** Leaves out packages that cannot be bundled: code in `folder` imports them from where they are installed. Their files are added to `external`. */
export function keepExternal(folder: string, external: Set<string>): Plugin {
  return {
    name: 'keep-external',
    async resolveId(specifier, importer, options) {
      if (!isExternal.test(specifier)) return null;
      const found = await this.resolve(specifier, importer, { ...options, skipSelf: true });
      if (!found) return null;
      external.add(found.id);
      return { id: relative(folder, found.id), external: true };
    },
  };
}
