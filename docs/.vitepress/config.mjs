// The documentation site: the same pages as in the repository, built by `npm run docs:build`.
import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitepress';

import { readNavigation } from './navigation.mjs';
import { anchorOf, copyLinkedFiles, linkPages, siteFileOf } from './site-links.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Folders and files of the repository that have Markdown but no pages. */
const NO_PAGES = ['bench', 'config', 'coverage', 'logs', 'scripts', 'skills', 'src', 'test'].map(
  (name) => `${name}/**`,
);

/** Finds packages in docs/node_modules for pages beside docs/, too. */
const packagesOfDocs = {
  name: 'packages-of-docs',
  enforce: 'pre',
  resolveId(id, importer, options) {
    // Node.js loads it once, from docs/node_modules, for the rendering of all pages.
    if (options.ssr && /^vue(?:$|\/)/.test(id)) return { id, external: true };
    const isPage = importer?.split('?')[0]?.endsWith('.md') ?? false;
    if (!isPage || /^[./]/.test(id)) return null;
    return this.resolve(id, fileURLToPath(import.meta.url), { ...options, skipSelf: true });
  },
};

export default defineConfig({
  title: 'shell-adapter',
  description: 'A daemon that runs shell commands for programs and LLM agents.',
  // Pages beside docs/, such as the changelog, belong to the site too.
  srcDir: ROOT,
  srcExclude: NO_PAGES,
  outDir: fileURLToPath(new URL('./dist', import.meta.url)),
  rewrites: siteFileOf,
  cleanUrls: false,
  lastUpdated: false,
  ignoreDeadLinks: false,
  // The pages have no favicon; an inline one spares the request for it.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: { linkify: false, anchor: { slugify: anchorOf }, config: (markdown) => linkPages(markdown, ROOT) },
  buildEnd: ({ outDir }) => copyLinkedFiles(ROOT, outDir),
  vite: {
    plugins: [packagesOfDocs],
    // The search index and the largest page are above the default of 500 kB.
    build: { chunkSizeWarningLimit: 2000 },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/guide/getting-started' },
      { text: 'Operate', link: '/operate/configuration' },
      { text: 'Reference', link: '/reference/protocol' },
      { text: 'API', link: '/api/' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    sidebar: readNavigation(ROOT),
  },
});
