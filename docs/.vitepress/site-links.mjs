// Where files of the repository are on the site, and links between them.
import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The file of a page on the site, by its path in the repository: `docs/` is the root, and a README is the index of its folder. */
export const siteFileOf = (path) => {
  if (path === 'README.md') return 'overview.md';
  return path.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
};

/** Files that pages link to and that are no pages, such as the annotated configuration; relative to the repository. */
const linkedFiles = new Set();

/** Makes relative links between files of the repository links between pages of the site. */
export function linkPages(markdown, root) {
  markdown.core.ruler.push('site-links', ({ tokens, env }) => {
    const links = tokens.flatMap((token) => token.children ?? []).filter(({ type }) => type === 'link_open');
    for (const link of links) link.attrSet('href', siteLinkOf(link.attrGet('href'), env.realPath ?? env.path, root));
  });
}

function siteLinkOf(href, page, root) {
  if (/^(?:[a-z][a-z0-9+.-]*:|#|\/)/i.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const file = resolve(dirname(page), decodeURI(path));
  const target = existsSync(file) && statSync(file).isDirectory() ? join(file, 'README.md') : file;
  const inRepository = relative(root, target);
  if (!target.endsWith('.md')) linkedFiles.add(inRepository);
  return `/${siteFileOf(inRepository)}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Copies the files that pages link to into the built site. Fails when one is missing. */
export function copyLinkedFiles(root, site) {
  for (const path of linkedFiles) {
    mkdirSync(join(site, dirname(path)), { recursive: true });
    copyFileSync(join(root, path), join(site, path));
  }
}

/** The anchor of a heading, as GitHub makes it: links work in the repository and on the site. */
export const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
