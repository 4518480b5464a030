import { POLICY_LIMITS } from '../model/limits.js';

/** Longest brace expression that is expanded, in characters. */
const MAX_LENGTH = 1024;

/** Syntax that only the shell itself can expand. */
const NEEDS_SHELL = /[$`"'\\<>()]/;
const NUMBERS = /^(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.(-?\d{1,6}))?$/;
const LETTERS = /^([A-Za-z])\.\.([A-Za-z])$/;

/** The words that `{…}` expands to; undefined when they are unknown or too many. */
export function expandBraces(text: string): readonly string[] | undefined {
  const inner = text.slice(1, -1);
  if (inner.length > MAX_LENGTH || NEEDS_SHELL.test(inner)) return undefined;
  const sequence = expandSequence(inner);
  if (sequence) return sequence.length > POLICY_LIMITS.maxBraceWords ? undefined : sequence;
  const words: string[] = [];
  for (const alternative of splitAtCommas(inner)) {
    const expanded = expandNested(alternative);
    if (!expanded || words.length + expanded.length > POLICY_LIMITS.maxBraceWords) return undefined;
    words.push(...expanded);
  }
  return words;
}

function expandSequence(inner: string): readonly string[] | undefined {
  const letters = LETTERS.exec(inner);
  if (letters) {
    const codes = range(letters[1]?.charCodeAt(0) ?? 0, letters[2]?.charCodeAt(0) ?? 0, 1);
    return codes.map((code) => String.fromCharCode(code));
  }
  const numbers = NUMBERS.exec(inner);
  if (!numbers) return undefined;
  return range(Number(numbers[1]), Number(numbers[2]), Math.abs(Number(numbers[3] ?? 1)) || 1).map(String);
}

function range(from: number, to: number, step: number): number[] {
  const count = Math.min(Math.floor(Math.abs(to - from) / step) + 1, POLICY_LIMITS.maxBraceWords + 1);
  return Array.from({ length: count }, (_, index) => from + Math.sign(to - from) * step * index);
}

/** Splits alternatives at the outer level. */
function splitAtCommas(inner: string): readonly string[] {
  const parts = [''];
  let level = 0;
  for (const character of inner) {
    if (character === '{') level += 1;
    if (character === '}') level -= 1;
    if (character === ',' && level === 0) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${character}`);
  }
  return parts;
}

function expandNested(text: string): readonly string[] | undefined {
  const start = text.indexOf('{');
  if (start === -1) return [text];
  let level = 0;
  for (let end = start; end < text.length; end += 1) {
    if (text[end] === '{') level += 1;
    if (text[end] === '}') level -= 1;
    if (level > 0) continue;
    const middle = expandBraces(text.slice(start, end + 1));
    const tails = middle && expandNested(text.slice(end + 1));
    if (!tails || middle.length * tails.length > POLICY_LIMITS.maxBraceWords) return undefined;
    return middle.flatMap((word) => tails.map((tail) => text.slice(0, start) + word + tail));
  }
  return undefined;
}
