import type { ArithmeticExpression, Command, ParameterExpansionPart, SyntaxNode, Word, WordPart } from 'unbash';

import { noteVariable } from './assignments.js';
import type { AnalysisContext } from '../words/analysis-context.js';
import type { Variables } from '../words/variables.js';

/** Comparisons of `[[` whose operands bash evaluates as arithmetic. */
const ARITHMETIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

/** A subscript that runs a command when it is evaluated, as in `a[$(reboot)]`. */
export const HIDDEN_COMMAND = /\[[^\]]*(?:\$\(|`|\$\{)/;

interface ExpansionContext {
  readonly inquiry: AnalysisContext;
  readonly numbers: Variables;
}

/** Judges of syntax nodes with an effect of their own, by the type of the node. */
const JUDGES: {
  readonly [T in SyntaxNode['type']]?: (node: Extract<SyntaxNode, { type: T }>, context: ExpansionContext) => void;
} = {
  ParameterExpansion: judgeParameter,
  Assignment: ({ name, index, value, text, append, pos }, context) => {
    // The earlier value is evaluated, too.
    if (append === true && context.numbers.isInteger(name)) judgeSubscriptText(name, pos, context);
    if (!context.numbers.isAssociative(name)) judgeSubscript(index, context);
    if (value.type === 'Word' && HIDDEN_COMMAND.test(literalText(value))) noteHidden(text, context);
    if (value.type === 'ArrayValue' && !context.numbers.isAssociative(name)) judgeElements(value.elements, context);
    judgeInteger(name, value.type === 'Word' ? [value] : value.elements, context);
  },
  For: ({ name }, { inquiry }) => {
    noteVariable(name.value, inquiry);
  },
  Select: ({ name }, { inquiry }) => {
    noteVariable(name.value, inquiry);
  },
  Coproc: ({ name }, { inquiry }) => {
    if (name) noteVariable(name.value, inquiry);
  },
  ArithmeticExpansion: ({ expression, text }, context) => {
    judgeExpression(expression, text, context);
  },
  ArithmeticCommand: ({ expression, body }, context) => {
    judgeExpression(expression, body, context);
  },
  ArithmeticFor: ({ initialize, test, update }, context) => {
    for (const expression of [initialize, test, update]) if (expression) judgeExpression(expression, '', context);
  },
  ArithmeticWord: ({ value }, context) => {
    if (HIDDEN_COMMAND.test(value)) noteHidden(value, context);
  },
  TestBinary: ({ operator, left, right }, context) => {
    if (!ARITHMETIC_TESTS.has(operator)) return;
    judgeSubscript(left, context);
    judgeSubscript(right, context);
  },
  TestUnary: ({ operator, operand }, context) => {
    if (operator === '-v' || operator === '-R') judgeTestedName(operand, context);
  },
  ExtendedGlob: ({ text }, { inquiry }) => {
    // zsh executes `e:…:` and `+…` in glob qualifiers; in bash these are ordinary patterns.
    if (inquiry.facts.shell === 'zsh') inquiry.note('a pattern of zsh may run commands', text);
  },
};

/**
 * Judges the effects of expansions and tests themselves. Arithmetic evaluates the values of variables as expressions,
 * whose subscripts may run commands that no parser can see. Source: bash(1), ARITHMETIC EVALUATION and ARRAYS.
 */
export function judgeExpansion(node: SyntaxNode, inquiry: AnalysisContext, numbers: Variables): void {
  // Each judge's type fits its node, but TypeScript cannot correlate the union over all types.
  const judge = JUDGES[node.type] as ((node: SyntaxNode, context: ExpansionContext) => void) | undefined;
  judge?.(node, { inquiry, numbers });
}

/** `a=([x]=1)`: the subscripts of elements are expressions. */
function judgeElements(elements: readonly Word[], context: ExpansionContext): void {
  for (const { text, pos } of elements) {
    const [, subscript] = /^\[([^\]]*)\]\+?=/.exec(text) ?? [];
    if (subscript !== undefined) judgeSubscriptText(subscript, pos, context);
  }
}

/** Builtins that evaluate subscripts in the names that they are given. */
const TAKES_NAMES =
  /^(?:read|printf|unset|mapfile|readarray|getopts|wait|test|\[|declare|typeset|local|export|readonly)$/;

/** A word that is a name with a subscript, with quotes removed or not. */
const SUBSCRIPTED = /^["']?([A-Za-z_]\w*)\[(.+)\]/s;

/** Judges the arguments of builtins that are expressions, or contain some. */
export function judgeEvaluated(command: Command, inquiry: AnalysisContext, numbers: Variables): void {
  const name = command.name?.value ?? '';
  if (name === 'let') judgeLet(command, inquiry, numbers);
  else if (TAKES_NAMES.test(name)) judgeSubscripts(command, { inquiry, numbers });
}

/** Builtins of which only the word after an option is a name. */
const NAMED_BY_OPTION = /^(?:test|\[|printf)$/;

function judgeSubscripts({ name, suffix }: Command, context: ExpansionContext): void {
  const words = suffix.flatMap((part) => (part.type === 'Word' ? [part] : []));
  for (const [index, word] of words.entries()) {
    const isName = !NAMED_BY_OPTION.test(name?.value ?? '') || /^-[vR]$/.test(words[index - 1]?.text ?? '');
    if (isName) judgeSubscriptOf(word, context);
  }
}

function judgeSubscriptOf({ text, pos }: Word, context: ExpansionContext): void {
  const [, array = '', subscript = '@'] = SUBSCRIPTED.exec(text) ?? [];
  if (!/^[@*]$/.test(subscript) && !context.numbers.isAssociative(array)) judgeSubscriptText(subscript, pos, context);
}

function judgeSubscriptText(subscript: string, position: number, context: ExpansionContext): void {
  if (HIDDEN_COMMAND.test(`[${subscript}`)) noteHidden(subscript, context);
  else if (context.numbers.isUnknownText(subscript, position)) noteEvaluated(subscript, context);
}

function judgeLet({ suffix }: Command, inquiry: AnalysisContext, numbers: Variables): void {
  for (const part of suffix) {
    const unknown = part.type === 'Word' ? numbers.unknownOfLet(part) : undefined;
    if (unknown !== undefined) noteEvaluated(unknown, { inquiry, numbers });
  }
}

function judgeParameter(node: ParameterExpansionPart, context: ExpansionContext): void {
  const { operation, parameter, index } = node;
  judgeIndirection(node, context);
  if (operation?.type === 'Default' && operation.operator.endsWith('=')) noteVariable(parameter, context.inquiry);
  if (!context.numbers.isAssociative(parameter)) judgeSubscript(index, context);
  if (operation?.type === 'Slice') {
    judgeSubscript(operation.offset, context);
    judgeSubscript(operation.length, context);
  }
}

/** Expansions that treat the value of a variable as code or as a name. */
function judgeIndirection(
  { operation, prefix, parameter, index, text }: ParameterExpansionPart,
  { inquiry }: ExpansionContext,
): void {
  if (operation?.type === 'Transform' && operation.operand.value === 'P') {
    inquiry.note('the value of a variable is run as a prompt', text);
  } else if (prefix === '!' && operation?.type !== 'Names' && !isListOfKeys(index) && parameter !== '#') {
    inquiry.note('the value of a variable is used as a name, whose subscript may run a command', text);
  } else if (text.startsWith('${(')) {
    inquiry.note('flags of a zsh expansion may run commands', text);
  }
}

/** `${!array[@]}`: the keys of an array. */
const isListOfKeys = (index: Word | undefined): boolean => index?.value === '@' || index?.value === '*';

/** The literal part of a word, without substitutions, which run at once. */
function literalText({ value, parts }: Word): string {
  if (!parts) return value;
  const textOf = (part: WordPart): string => {
    if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') return part.parts.map(textOf).join('');
    return 'value' in part ? part.value : '';
  };
  return parts.map(textOf).join('');
}

/** An expression that cannot be parsed is not known either. */
function judgeExpression(expression: ArithmeticExpression | undefined, text: string, context: ExpansionContext): void {
  if (!expression && text.replace(/^\$?\(\(|\)\)$/g, '').trim() === '') return;
  const unknown = expression ? context.numbers.unknownOperand(expression) : text;
  if (unknown !== undefined) noteEvaluated(unknown, context);
}

/** A word that is evaluated as an expression: a subscript, for example. */
function judgeSubscript(word: Word | undefined, context: ExpansionContext): void {
  if (word === undefined || isListOfKeys(word)) return;
  if (HIDDEN_COMMAND.test(word.value)) noteHidden(word.value, context);
  const unknown = context.numbers.unknownPart(word);
  if (unknown !== undefined) noteEvaluated(unknown, context);
}

/** A name whose subscript is evaluated, and which may be one with a subscript if it is not known. */
function judgeTestedName(word: Word, context: ExpansionContext): void {
  judgeSubscriptOf(word, context);
  const [array = ''] = word.text.split('[', 1);
  if (/[$`]/.test(array)) judgeSubscriptText(array, word.pos, context);
}

/** Whatever is assigned to a variable with the attribute of integers is evaluated. */
function judgeInteger(name: string, words: readonly Word[], context: ExpansionContext): void {
  if (!context.numbers.isInteger(name)) return;
  for (const word of words) judgeSubscript(word, context);
}

const noteEvaluated = (what: string, { inquiry }: ExpansionContext): void => {
  inquiry.note('arithmetic evaluates a value that is known only at run time, and may run a command', what);
};

const noteHidden = (text: string, { inquiry }: ExpansionContext): void => {
  inquiry.note('a subscript may run a command', text);
};
