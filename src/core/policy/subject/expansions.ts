import type { ParameterExpansionPart, SyntaxNode, Word, WordPart } from 'unbash';

import { noteVariable } from './assignments.js';
import type { AnalysisContext } from '../words/analysis-context.js';

/** Comparisons of `[[` whose operands bash evaluates as arithmetic. */
const ARITHMETIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

/** A subscript that runs a command when it is evaluated, as in `a[$(reboot)]`. */
export const HIDDEN_COMMAND = /\[[^\]]*(?:\$\(|`|\$\{)/;

/** Judges of syntax nodes with an effect of their own, by the type of the node. */
const JUDGES: {
  readonly [T in SyntaxNode['type']]?: (node: Extract<SyntaxNode, { type: T }>, inquiry: AnalysisContext) => void;
} = {
  ParameterExpansion: judgeParameter,
  Assignment: ({ index, value, text }, inquiry) => {
    judgeSubscript(index?.value, inquiry);
    if (value.type === 'Word' && HIDDEN_COMMAND.test(literalText(value))) noteHidden(text, inquiry);
  },
  For: ({ name }, inquiry) => {
    noteVariable(name.value, inquiry);
  },
  Select: ({ name }, inquiry) => {
    noteVariable(name.value, inquiry);
  },
  Coproc: ({ name }, inquiry) => {
    if (name) noteVariable(name.value, inquiry);
  },
  ArithmeticWord: ({ value }, inquiry) => {
    judgeSubscript(value, inquiry);
  },
  TestBinary: ({ operator, left, right }, inquiry) => {
    if (!ARITHMETIC_TESTS.has(operator)) return;
    judgeSubscript(left.value, inquiry);
    judgeSubscript(right.value, inquiry);
  },
  TestUnary: ({ operator, operand }, inquiry) => {
    if (operator === '-v' || operator === '-R') judgeSubscript(operand.value, inquiry);
  },
  ExtendedGlob: ({ text }, inquiry) => {
    // zsh executes `e:…:` and `+…` in glob qualifiers; in bash these are ordinary patterns.
    if (inquiry.facts.shell === 'zsh') inquiry.note('obfuscated', `a pattern of zsh may run commands: ${text}`);
  },
};

/**
 * Judges the effects of expansions and tests themselves. Arithmetic evaluates the values of variables as expressions,
 * whose subscripts may run commands that no parser can see. Source: bash(1), ARITHMETIC EVALUATION and ARRAYS.
 */
export function judgeExpansion(node: SyntaxNode, inquiry: AnalysisContext): void {
  // Each judge's type fits its node, but TypeScript cannot correlate the union over all types.
  const judge = JUDGES[node.type] as ((node: SyntaxNode, inquiry: AnalysisContext) => void) | undefined;
  judge?.(node, inquiry);
}

function judgeParameter(node: ParameterExpansionPart, inquiry: AnalysisContext): void {
  const { operation, parameter, index } = node;
  judgeIndirection(node, inquiry);
  if (operation?.type === 'Default' && operation.operator.endsWith('=')) noteVariable(parameter, inquiry);
  judgeSubscript(index?.value, inquiry);
  if (operation?.type === 'Slice') {
    judgeSubscript(operation.offset.value, inquiry);
    judgeSubscript(operation.length?.value, inquiry);
  }
}

/** Expansions that treat the value of a variable as code or as a name. */
function judgeIndirection({ operation, prefix, text }: ParameterExpansionPart, inquiry: AnalysisContext): void {
  if (operation?.type === 'Transform' && operation.operand.value === 'P') {
    inquiry.note('obfuscated', `the value of a variable is run as a prompt: ${text}`);
  } else if (prefix === '!' && operation?.type !== 'Names') {
    inquiry.note('execute', `a variable contains the name of another variable: ${text}`);
  } else if (text.startsWith('${(')) {
    inquiry.note('obfuscated', `flags of a zsh expansion may run commands: ${text}`);
  }
}

/** The literal part of a word, without substitutions, which run at once. */
function literalText({ value, parts }: Word): string {
  if (!parts) return value;
  const textOf = (part: WordPart): string => {
    if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') return part.parts.map(textOf).join('');
    return 'value' in part ? part.value : '';
  };
  return parts.map(textOf).join('');
}

/** Text that is evaluated as arithmetic. */
function judgeSubscript(text: string | undefined, inquiry: AnalysisContext): void {
  if (text === undefined || !/[A-Za-z_$`]/.test(text)) return;
  if (HIDDEN_COMMAND.test(text)) noteHidden(text, inquiry);
  else inquiry.note('execute', 'arithmetic evaluates the values of variables as code');
}

const noteHidden = (text: string, inquiry: AnalysisContext) => {
  inquiry.note('obfuscated', `a subscript may run a command: ${text}`);
};
