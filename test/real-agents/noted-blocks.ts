/** A fenced block of a page, with the comment in front of it that says what to do with it. */
export interface NotedBlock {
  readonly language: string;
  readonly text: string;
  /** The text of the HTML comment in front of the block, such as `agent: codex, stdio, commands`; empty for none. */
  readonly note: string;
  /** First line of the block, from 1. */
  readonly line: number;
}

/** The fenced blocks of a Markdown page, in order. */
export function readNotedBlocks(page: string): readonly NotedBlock[] {
  const found = page.matchAll(/(?:<!-- (.*?) -->\n+)?^```(\w*)\n(.*?)^```$/gms);
  return [...found].map(({ 1: note = '', 2: language = '', 3: text = '', index }) => {
    return { language, text, note, line: page.slice(0, index).split('\n').length };
  });
}
