import type { z } from 'zod';
import { computedCount, count, optionalCount } from '../fields/fields.js';

/** Upper bound of head and tail of a result, which are held in memory. */
const MAX_OUTPUT_CHARACTERS = 16 * 1024 * 1024;
const OUTPUT_RANGE = { unit: 'characters', min: 0, max: MAX_OUTPUT_CHARACTERS } as const;
const LINES_RANGE = { unit: 'lines', min: 0, max: MAX_OUTPUT_CHARACTERS } as const;

/** Keys of `adapter` that say how much of an output a result has. */
export const outputKeys = {
  max_output_size: count(
    { ...OUTPUT_RANGE, min: 1 },
    30_000,
    'An output stream up to this size is returned whole, a longer one as its beginning and its end.',
  ),
  begin_output_size: computedCount(
    OUTPUT_RANGE,
    'a third of `max_output_size`',
    'Size of the beginning of a truncated output.',
  ),
  end_output_size: computedCount(
    OUTPUT_RANGE,
    '`max_output_size` without `begin_output_size`',
    'Size of the end of a truncated output.',
  ),
  max_output_lines: optionalCount(
    LINES_RANGE,
    '`begin_output_lines` and `end_output_lines` together; otherwise no limit',
    'An output stream of up to so many lines is returned whole, a longer one as its first and its last lines.',
  ),
  begin_output_lines: optionalCount(
    LINES_RANGE,
    'a third of `max_output_lines`',
    'Lines at the beginning of an output that is truncated by lines.',
  ),
  end_output_lines: optionalCount(
    LINES_RANGE,
    '`max_output_lines` without `begin_output_lines`',
    'Lines at the end of an output that is truncated by lines.',
  ),
  max_line_length: optionalCount(
    { ...OUTPUT_RANGE, min: 1 },
    'no limit',
    'Characters after which a line of a result is cut and ends in `…`.',
  ),
};

interface WrittenSizes {
  readonly max_output_size: number;
  readonly begin_output_size?: number | undefined;
  readonly end_output_size?: number | undefined;
}

const isSize = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;
const isOptionalSize = (value: unknown): boolean => value === undefined || isSize(value);

/** Whether the sizes can be compared: other keys of the section may be invalid, then both problems are reported. */
export function hasSizes(section: unknown): section is WrittenSizes {
  if (typeof section !== 'object' || section === null) return false;
  const { max_output_size: max, begin_output_size: begin, end_output_size: end } = section as Record<string, unknown>;
  return isSize(max) && [begin, end].every(isOptionalSize);
}

/** The head gets a third of a truncated output, the tail the rest: error messages are mostly at the end. */
const BEGIN_SHARE = 3;

/** Derives missing sizes from the others, so that the maximum alone is sufficient. */
export function chooseOutputSizes({
  max_output_size: max,
  begin_output_size: begin,
  end_output_size: end,
}: WrittenSizes) {
  const chosen = begin ?? (end === undefined ? Math.floor(max / BEGIN_SHARE) : Math.max(0, max - end));
  return { begin_output_size: chosen, end_output_size: end ?? Math.max(0, max - chosen) };
}

/** Reports sizes that are more than the maximum together. */
export function checkOutputSizes(written: WrittenSizes, context: z.RefinementCtx): void {
  const { max_output_size: max, end_output_size: givenEnd } = written;
  const { begin_output_size: begin, end_output_size: end } = chooseOutputSizes(written);
  if (begin + end <= max) return;
  context.addIssue({
    code: 'custom',
    path: [givenEnd === undefined ? 'begin_output_size' : 'end_output_size'],
    message: `begin_output_size (${begin}) and end_output_size (${end}) may not be more than max_output_size (${max}) together`,
  });
}

interface WrittenLines {
  readonly max_output_lines?: number | undefined;
  readonly begin_output_lines?: number | undefined;
  readonly end_output_lines?: number | undefined;
}

/** Whether the numbers of lines can be compared. */
export function hasLines(section: unknown): section is WrittenLines {
  if (typeof section !== 'object' || section === null) return false;
  const {
    max_output_lines: max,
    begin_output_lines: begin,
    end_output_lines: end,
  } = section as Record<string, unknown>;
  return [max, begin, end].every(isOptionalSize);
}

/** Derives missing numbers of lines from the others; none without any. */
export function chooseOutputLines(written: WrittenLines) {
  const { max_output_lines: givenMax, begin_output_lines: begin, end_output_lines: end } = written;
  if (givenMax === undefined && begin === undefined && end === undefined) return {};
  const max = givenMax ?? (begin ?? 0) + (end ?? 0);
  const sizes = chooseOutputSizes({ max_output_size: max, begin_output_size: begin, end_output_size: end });
  return {
    max_output_lines: max,
    begin_output_lines: sizes.begin_output_size,
    end_output_lines: sizes.end_output_size,
  };
}

/** Reports numbers of lines that are more than the maximum together. */
export function checkOutputLines(written: WrittenLines, context: z.RefinementCtx): void {
  const {
    max_output_lines: max = 0,
    begin_output_lines: begin = 0,
    end_output_lines: end = 0,
  } = chooseOutputLines(written);
  if (begin + end <= max) return;
  context.addIssue({
    code: 'custom',
    path: [written.end_output_lines === undefined ? 'begin_output_lines' : 'end_output_lines'],
    message: `begin_output_lines (${begin}) and end_output_lines (${end}) may not be more than max_output_lines (${max}) together`,
  });
}
