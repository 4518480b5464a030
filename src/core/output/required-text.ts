/** Escapes that stand for a class or a position, such as `\d` and `\b`. */
const CLASS_ESCAPES = new Set('dDsSwWbBAz');
const REPEAT = /\{\d+(?:,\d*)?\}/y;
const CLASS = /\[\^?\]?(?:\[:\^?[a-z]+:\]|\\[^]|[^\]\\])*\]/y;
/** A group without flags or name, and without a group inside: others are rare. */
const FLAT_GROUP = /\((?:\?:|(?!\?))(?:\[\^?\]?(?:\\[^]|[^\]\\])*\]|\\[^]|[^\\()[])*\)/y;

/**
 * A text of ASCII that each match of an expression of RE2 contains: what does not have it need not be matched. Undefined when none
 * is found, which says nothing about the expression.
 */
export function requiredText(expression: string): string | undefined {
  const runs = [''];
  const endRun = () => runs.push('');
  let position = 0;
  while (position < expression.length) {
    const step = stepAt(expression, position);
    if (!step) return undefined;
    if (step.isOptional === true) runs.push((runs.pop() ?? '').slice(0, -1), '');
    else if (step.text === undefined) endRun();
    else runs.push((runs.pop() ?? '') + step.text);
    position += step.length;
  }
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best));
  return longest === '' ? undefined : longest;
}

/** A part of an expression: a character that is required, what makes the one before optional, or what matches anything. */
interface Step {
  readonly length: number;
  readonly text?: string;
  readonly isOptional?: boolean;
}

const SIMPLE: { readonly [character: string]: Step } = {
  '.': { length: 1 },
  '^': { length: 1 },
  $: { length: 1 },
  '+': { length: 1 },
  '*': { length: 1, isOptional: true },
  '?': { length: 1, isOptional: true },
};

/** The part at a position; undefined for one that is not understood, or a choice. */
function stepAt(expression: string, position: number): Step | undefined {
  const character = expression[position] ?? '';
  const simple = SIMPLE[character];
  if (simple) return simple;
  if (character === '\\') return escapeAt(expression[position + 1] ?? '');
  if (character === '{') return matchAt(REPEAT, expression, position, true);
  if (character === '[') return matchAt(CLASS, expression, position);
  if (character === '(') return matchAt(FLAT_GROUP, expression, position);
  if ('|)'.includes(character)) return undefined;
  return character < '\x80' ? { length: 1, text: character } : { length: 1 };
}

function escapeAt(escaped: string): Step | undefined {
  if (CLASS_ESCAPES.has(escaped)) return { length: 2 };
  return /^[!-/:-@[-`{-~]$/.test(escaped) ? { length: 2, text: escaped } : undefined;
}

function matchAt(part: RegExp, expression: string, position: number, isOptional = false): Step | undefined {
  part.lastIndex = position;
  const [found] = part.exec(expression) ?? [];
  return found === undefined ? undefined : { length: found.length, isOptional };
}
