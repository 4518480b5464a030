// The sidebar: the map of docs/README.md, and the list of decisions.
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import { siteFileOf } from './site-links.mjs';

const MAP = 'docs/README.md';
const DECISIONS = 'docs/develop/adr/README.md';
const API = { text: 'API of the packages', link: '/api/' };

/** The groups of the sidebar, each a heading of the map with the links of its table. */
export function readNavigation(root) {
  const sections = readFileSync(join(root, MAP), 'utf8').split(/^## /m).slice(1);
  const groups = sections.map((section) => {
    const [text = ''] = section.split('\n', 1);
    return { text, collapsed: false, items: linksOf(section, MAP) };
  });
  groups.find(({ text }) => text === 'Look it up')?.items.push(API);
  const decisions = linksOf(readFileSync(join(root, DECISIONS), 'utf8'), DECISIONS);
  return [...groups, { text: 'Decisions', collapsed: true, items: decisions }];
}

/** The links in the first columns of the tables of a page. */
const linksOf = (text, page) =>
  [...text.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, title, target]) => ({
    text: title,
    link: `/${siteFileOf(normalize(join(dirname(page), target))).replace(/(?:(?<=^|\/)index)?\.md$/, '')}`,
  }));
