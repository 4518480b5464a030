import type { SyntaxNode, Word, WordPart } from 'unbash';

import { noteVariable } from './assignments.js';
import type { AnalysisContext } from '../words/analysis-context.js';

/** Comparisons of `[[` whose operands bash evaluates as arithmetic. */
const ARITHMETIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

/** A subscript that runs a command when it is evaluated, as in `a[$(reboot)]`. */
export const HIDDEN_COMMAND = /\[[^\]]*(?:\$\(|`|\$\{)/;

/**
 * Judges the effects of expansions and tests themselves. Arithmetic evaluates the values of variables as expressions,
 * whose subscripts may run commands that no parser can see. Source: bash(1), ARITHMETIC EVALUATION and ARRAYS.
 */
export function judgeExpansion(node: SyntaxNode, inquiry: AnalysisContext): void {
  switch (node.type) {
    case 'ParameterExpansion':
      if (node.operation?.type === 'Transform' && node.operation.operand.value === 'P') {
        inquiry.note('obfuscated', `the value of a variable is run as a prompt: ${node.text}`);
      } else if (node.prefix === '!' && node.operation?.type !== 'Names') {
        inquiry.note('execute', `a variable contains the name of another variable: ${node.text}`);
      } else if (node.text.startsWith('${(')) {
        inquiry.note('obfuscated', `flags of a zsh expansion may run commands: ${node.text}`);
      }
      if (node.operation?.type === 'Default' && node.operation.operator.endsWith('='))
        noteVariable(node.parameter, inquiry);
      judgeSubscript(node.index?.value, inquiry);
      if (node.operation?.type === 'Slice') {
        judgeSubscript(node.operation.offset.value, inquiry);
        judgeSubscript(node.operation.length?.value, inquiry);
      }
      return;
    case 'Assignment':
      judgeSubscript(node.index?.value, inquiry);
      if (node.value.type === 'Word' && HIDDEN_COMMAND.test(literalText(node.value))) noteHidden(node.text, inquiry);
      return;
    case 'For':
    case 'Select':
      noteVariable(node.name.value, inquiry);
      return;
    case 'Coproc':
      if (node.name) noteVariable(node.name.value, inquiry);
      return;
    case 'ArithmeticWord':
      judgeSubscript(node.value, inquiry);
      return;
    case 'TestBinary':
      if (!ARITHMETIC_TESTS.has(node.operator)) return;
      judgeSubscript(node.left.value, inquiry);
      judgeSubscript(node.right.value, inquiry);
      return;
    case 'TestUnary':
      if (node.operator === '-v' || node.operator === '-R') judgeSubscript(node.operand.value, inquiry);
      return;
    case 'ExtendedGlob':
      // zsh executes `e:…:` and `+…` in glob qualifiers; in bash these are ordinary patterns.
      if (inquiry.facts.shell === 'zsh') inquiry.note('obfuscated', `a pattern of zsh may run commands: ${node.text}`);
      return;
    default:
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
