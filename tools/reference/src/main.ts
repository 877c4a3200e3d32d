import { writeFile } from 'node:fs/promises';
import { readPages } from './pages.ts';

// `npm run docs:reference`: updates the generated blocks of the documentation.
for (const { name, path, content, current } of await readPages()) {
  if (content === current) continue;
  await writeFile(path, current);
  process.stdout.write(`Updated docs/${name}\n`);
}
