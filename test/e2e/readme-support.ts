import { execFile } from 'node:child_process';

/** A fenced block of a page, with the comment in front of it that tells what to do with it. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** `file: NAME`, `run: in the repository`, …; empty for none. */
  readonly note: string;
  /** From 1. */
  readonly line: number;
}

/** A command of a `console` block, and what the page says it prints. */
export interface Example {
  readonly command: string;
  readonly expected: string;
}

/** The fenced blocks of a Markdown page. */
export function readBlocks(page: string): readonly Block[] {
  const found = page.matchAll(/(?:<!-- (.*?) -->\n+)?^```(\w*)\n(.*?)^```$/gms);
  return [...found].map(({ 1: note = '', 2: language = '', 3: text = '', index }) => {
    return { language, text, note, line: page.slice(0, index).split('\n').length };
  });
}

/** The examples of a `console` block: `$ ` begins a command, the lines after it are what it prints. */
export function readExamples(text: string): readonly Example[] {
  const [, ...parts] = `\n${text}`.split(/\n\$ /);
  return parts.map((part) => {
    const [command = '', ...expected] = part.split('\n');
    return { command, expected: expected.join('\n').trimEnd() };
  });
}

/** What stands between the outputs of two commands: no command prints it. */
const SEPARATOR = '\u001e';

/** Runs the commands of a block in one shell; gives what each printed on both outputs. */
export async function runExamples(
  examples: readonly Example[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<readonly string[]> {
  const script = examples.map(({ command }) => `${command}\nprintf '${SEPARATOR}'`).join('\n');
  const output = await new Promise<string>((resolve) => {
    // The exit code is that of printf; what fails shows in the output.
    const child = execFile('bash', ['-c', `exec 2>&1 </dev/null\n${script}`], options, (_error, stdout) => {
      resolve(stdout);
    });
    child.stdin?.end();
  });
  return output.split(SEPARATOR).map((part) => part.trimEnd());
}

/** What the page says, as a pattern: `…` stands for anything on its line. */
export function patternOf(expected: string): RegExp {
  const parts = expected.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*?')}$`);
}
