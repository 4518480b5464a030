/** A command of a `console` block, and what the page says it prints. */
export interface Example {
  /** What is typed behind `$ `; `^C` for the key that interrupts the program in the foreground. */
  readonly command: string;
  /** May contain `…`: within a line any text, alone on a line any number of lines. */
  readonly expected: string;
  /** From 1, on the page. */
  readonly line: number;
  /** Whether the program may keep running in its terminal while the page goes on in another one. */
  readonly mayKeepRunning: boolean;
}

/** A step of a page, in the order in which a reader takes them. */
export type Step =
  | {
      readonly kind: 'type';
      /** Numbered from 1 in the order in which the page opens them. */
      readonly terminal: number;
      /** Whether the page says that this terminal is in the clone. */
      readonly isInClone: boolean;
      /** The headings above the step, outermost first. */
      readonly headings: readonly string[];
      readonly examples: readonly Example[];
      readonly line: number;
    }
  | {
      readonly kind: 'save';
      /** The terminal whose current directory the file goes to. */
      readonly terminal: number;
      readonly headings: readonly string[];
      readonly name: string;
      readonly text: string;
      readonly line: number;
    };

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The paragraph directly above, without line breaks. */
  readonly introduction: string;
  readonly headings: readonly string[];
  /** The first line of its text, from 1. */
  readonly line: number;
  /** What the page says the reader saves it as; undefined for blocks that are not saved. */
  readonly fileName: string | undefined;
}

/** The fenced blocks of a Markdown page, in order. */
export function readBlocks(page: string): readonly Block[] {
  const blocks: Block[] = [];
  const headings: string[] = [];
  let paragraph: string[] = [];
  let fence: { readonly language: string; readonly line: number; readonly lines: string[] } | undefined;
  page.split('\n').forEach((line, index) => {
    const [, language] = /^```(\w*)$/.exec(line) ?? [];
    if (fence && language === '') {
      const introduction = paragraph.join(' ').trim();
      const [, fileName] = /\bSave this as `([^`]+)`/.exec(introduction) ?? [];
      const text = fence.lines.map((content) => `${content}\n`).join('');
      blocks.push({ ...fence, text, introduction, headings: headings.filter(Boolean), fileName });
      fence = undefined;
      paragraph = [];
    } else if (fence) fence.lines.push(line);
    else if (language !== undefined) fence = { language, line: index + 2, lines: [] };
    else if (/^#+ /.test(line)) {
      const [, marks = '', title = ''] = /^(#+) (.*)$/.exec(line) ?? [];
      headings.splice(marks.length - 1, Infinity, title);
      paragraph = [];
    } else if (line === '') {
      // The paragraph ends at a blank line only if another one follows.
      paragraph.push('');
    } else paragraph = paragraph.at(-1) === '' ? [line] : [...paragraph, line];
  });
  return blocks;
}

/** The examples of a `console` block: `$ ` or `^C` begins one, the lines after it are what is printed. */
export function readExamples(text: string, line = 1): readonly Omit<Example, 'mayKeepRunning'>[] {
  const examples: { command: string; expected: string[]; line: number }[] = [];
  text.split('\n').forEach((content, index) => {
    const [, command] = /^(?:\$ (.*)|\^C$)/.exec(content) ?? [];
    if (content === '^C' || command !== undefined) {
      examples.push({ command: command ?? '^C', expected: [], line: line + index });
    } else examples.at(-1)?.expected.push(content);
  });
  return examples.map((example) => ({ ...example, expected: example.expected.join('\n').trimEnd() }));
}

const ORDINALS = ['first', 'second', 'third', 'fourth'];

/** The terminal in which a block is typed. */
function terminalOf(introduction: string, current: number, last: number): number {
  if (/\b[Ii]n another terminal\b/.test(introduction)) return last + 1;
  const [, ordinal = ''] = /\b[Ii]n the (\w+) terminal\b/.exec(introduction) ?? [];
  const named = ORDINALS.indexOf(ordinal) + 1;
  return named > 0 && named <= last ? named : current;
}

type TypeStep = Extract<Step, { kind: 'type' }>;

/** What a reader does who follows the page from the top: type commands, save files, open terminals. */
export function readSteps(page: string): readonly Step[] {
  let terminal = 1;
  let last = 1;
  const steps: Step[] = [];
  for (const block of readBlocks(page)) {
    const { language, introduction, fileName: name, text, headings, line } = block;
    if (language !== 'console' && name === undefined) continue;
    terminal = terminalOf(introduction, terminal, last);
    last = Math.max(last, terminal);
    const place = { terminal, headings, line };
    if (name !== undefined) steps.push({ kind: 'save', ...place, name, text });
    else {
      const isInClone = /\bin the clone\b/.test(introduction);
      const examples = readExamples(text, line).map((example) => ({ ...example, mayKeepRunning: false }));
      steps.push({ kind: 'type', ...place, isInClone, examples });
    }
  }
  return steps.map((step, index) => (step.kind === 'type' ? markedToKeepRunning(step, steps.slice(index + 1)) : step));
}

/** Marks the last example of a step whose program may keep running while the page goes on in another terminal. */
function markedToKeepRunning(step: TypeStep, rest: readonly Step[]): TypeStep {
  const later = rest.filter((other): other is TypeStep => other.kind === 'type');
  const next = later.find(({ terminal }) => terminal === step.terminal);
  const keepsRunning =
    later[0] !== undefined &&
    later[0].terminal !== step.terminal &&
    (next === undefined || next.examples[0]?.command === '^C');
  const last = step.examples.length - 1;
  const examples = step.examples.map((example, index) => ({
    ...example,
    mayKeepRunning: keepsRunning && index === last && example.expected !== '',
  }));
  return { ...step, examples };
}

/** What the page says is printed, as a pattern: `…` stands for any text on its line, alone for any number of lines. */
export function patternOf(expected: string): RegExp {
  if (expected === '') return /^$/;
  const lines = expected.split('\n').map((line) => {
    if (line === '…') return String.raw`(?:[^\n]*\n)*?`;
    const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
    return `${parts.join(String.raw`[^\n]*?`)}\n`;
  });
  return new RegExp(`^${lines.join('')}$`);
}

/** Whether a command printed what the page says; blank lines at the end do not count. */
export function isAsPrinted(output: string, expected: string): boolean {
  const printed = output.trimEnd();
  return patternOf(expected).test(printed === '' ? '' : `${printed}\n`);
}
