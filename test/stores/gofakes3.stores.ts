import { join } from 'node:path';
import { describeStore } from './describe-store.ts';
import { notes, programOf } from './store-kind.ts';

await describeStore({
  name: 'gofakes3',
  from: 'go install github.com/johannesboyne/gofakes3/cmd/gofakes3@latest, and set GOFAKES3_BIN or PATH',
  find: () => programOf('GOFAKES3_BIN', 'gofakes3'),
  prepare: async ({ port, folder }) => ({
    args: ['-backend', 'bolt', '-bolt.db', join(folder, 'store.db'), '-host', `127.0.0.1:${port}`],
  }),
  findings: [notes.md5, notes.otherTags, notes.noEmptyList],
});
