import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress';

const docs = resolve(import.meta.dirname, '..');
const project = resolve(docs, '..');
const sections = ['start', 'host', 'integrate', 'reference', 'why'] as const;

// Where files outside docs/ can be read, such as https://git.example/echodrop/blob/v0.1.0. Without it, links to them become text.
const source = process.env['DOCS_SOURCE']?.replace(/\/$/, '');

/** The title of a page. */
function titleOf(page: string): string {
  return /^# (.+)$/m.exec(readFileSync(join(docs, page), 'utf8'))?.[1] ?? page;
}

/** A section of the sidebar: the pages that its README links, in that order. */
function sectionOf(folder: string): DefaultTheme.SidebarItem {
  const readme = readFileSync(join(docs, folder, 'README.md'), 'utf8');
  const linked = [...readme.matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, page]) => page ?? '');
  return {
    text: titleOf(`${folder}/README.md`),
    link: `/${folder}/`,
    collapsed: false,
    items: [...new Set(linked)].map((page) => ({ text: titleOf(`${folder}/${page}.md`), link: `/${folder}/${page}` })),
  };
}

/** Links to files outside docs/ lead to the source. */
const linkSources: NonNullable<MarkdownOptions['config']> = (markdown) => {
  const { renderer } = markdown;
  const fallback =
    renderer.rules['link_open'] ?? ((tokens, n, options, _, self) => self.renderToken(tokens, n, options));
  renderer.rules['link_open'] = (tokens, n, options, env, self) => {
    const token = tokens[n];
    const href = token?.attrGet('href') ?? '';
    if (!token || /^([a-z]+:|#)/.test(href)) return fallback(tokens, n, options, env, self);
    const target = resolve(docs, env.relativePath, '..', href);
    if (!relative(docs, target).startsWith('..')) return fallback(tokens, n, options, env, self);
    if (source) token.attrSet('href', `${source}/${relative(project, target)}`);
    else token.attrs = [];
    return self.renderToken(tokens, n, options);
  };
};

/** Leaves out the lines that mark generated blocks, which would be text: `html` is off. */
const hideMarks: NonNullable<MarkdownOptions['config']> = (markdown) => {
  markdown.core.ruler.after('normalize', 'hide-marks', (state) => {
    state.src = state.src.replaceAll(/^<!-- .* -->$/gm, '');
  });
};

export default defineConfig({
  title: 'Echodrop',
  description: 'Self-hosted photo and video uploads',
  outDir: join(project, 'dist/docs'),
  cacheDir: join(project, 'node_modules/.cache/vitepress'),
  cleanUrls: true,
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  // Pages are plain Markdown: <id> is a placeholder, not an element.
  markdown: {
    html: false,
    config: (markdown) => {
      linkSources(markdown);
      hideMarks(markdown);
    },
  },
  themeConfig: {
    nav: sections.map((folder) => ({ text: titleOf(`${folder}/README.md`), link: `/${folder}/` })),
    sidebar: sections.map(sectionOf),
    outline: [2, 3],
    search: { provider: 'local' },
  },
});
