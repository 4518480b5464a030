import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { type NotedBlock, readNotedBlocks } from './noted-blocks.js';

/** Address of the daemon on the page. */
export const SHOWN_URL = 'http://127.0.0.1:8087';

/** A block of the page that is tried. */
export interface Snippet {
  /** `claude`, `vscode`, … */
  readonly program: string;
  readonly transport: 'stdio' | 'HTTP' | 'both';
  /** A file to write, another way to the same settings, commands to run, or commands that check the result. */
  readonly kind: 'file' | 'or file' | 'commands' | 'check';
  /** Of a file its path, with `~` for the home directory; of a check a word that the commands print; otherwise empty. */
  readonly detail: string;
  readonly text: string;
  /** Line of the page, from 1. */
  readonly line: number;
}

const PAGE = fileURLToPath(new URL('../../docs/guide/agents.md', import.meta.url));

const NOTE =
  /^agent: (?<program>\w+), (?<transport>stdio|HTTP|both), (?<kind>(?:or )?file|commands|check)(?:: (?<detail>.+))?$/;

/**
 * What `docs/guide/agents.md` tells people to paste: every block behind a comment such as
 * `<!-- agent: codex, stdio, file: ~/.codex/config.toml -->` or `<!-- agent: claude, HTTP, commands -->`.
 * @param url replaces the daemon's address on the page
 */
export const readSnippets = (url: string): readonly Snippet[] =>
  readNotedBlocks(readFileSync(PAGE, 'utf8')).flatMap((block) => snippetOf(block, url));

function snippetOf({ note, text, line }: NotedBlock, url: string): Snippet[] {
  const groups = NOTE.exec(note)?.groups as (Omit<Snippet, 'detail'> & Partial<Snippet>) | undefined;
  if (!groups) return [];
  const { program, transport, kind, detail = '' } = groups;
  return [{ program, transport, kind, detail, text: text.replaceAll(SHOWN_URL, url), line }];
}

/** The snippets for one program over one transport. */
export const snippetsFor = (
  { program, transport }: { readonly program: string; readonly transport: 'stdio' | 'HTTP' },
  url: string,
): readonly Snippet[] =>
  readSnippets(url).filter((snippet) => snippet.program === program && [transport, 'both'].includes(snippet.transport));
