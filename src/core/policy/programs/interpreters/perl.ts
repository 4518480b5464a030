import type { Argument } from '../../words/argument.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { isTextEditing } from '../../subject/perl-code.js';

/** Flags that loop over lines: the text after `i` is the suffix of backup files. */
const LOOPING = /^-[npl]*(?:i(?:\.[\w~]+)?)?$/;

/**
 * `perl -pe` and `perl -i -pe` used in place of `sed`.
 * @returns whether the judgement is complete
 */
export function judgeTextEditing(subject: CommandAnalysis): boolean {
  const { args } = subject;
  const at = args.findIndex(({ shape }) => !LOOPING.test(shape));
  const [flag, code, ...files] = at === -1 ? [] : args.slice(at);
  if (!flag || !/^-[npl]*e$/.test(flag.shape) || !isEditingCode(code)) return false;
  if (files.some(({ shape, maySplit }) => shape.startsWith('-') || maySplit)) return false;
  const isInPlace = args.slice(0, at).some(({ shape }) => /^-[npl]*i/.test(shape));
  for (const file of files) {
    if (isInPlace) subject.write(file);
    else subject.read(file);
  }
  return true;
}

const isEditingCode = (code: Argument | undefined): boolean =>
  code?.value !== undefined && !code.isSample && isTextEditing(code.value);
