import { AdapterError } from '../../core/errors.js';
import type { LineLimits, OutputLimits } from '../../core/output/output-window.js';
import type { Request } from '../../core/protocol/requests.js';

type OutputOptions = NonNullable<Request<'execute_command'>['output']>;

/** The head gets a third of what is free, as in the defaults. */
const BEGIN_SHARE = 3;

/**
 * The output limits of a request. Sizes that were not given shrink to fit a smaller whole; sizes that were given have
 * to fit. Limits on lines replace the configured ones.
 * @throws AdapterError INVALID_REQUEST
 */
export function outputLimitsOf(
  { output }: Pick<Request<'execute_command'>, 'output'>,
  defaults: OutputLimits,
): OutputLimits {
  if (!output) return defaults;
  const lines = lineLimitsOf(output, defaults.lines);
  return { lines, maxLineLength: maxLineLengthOf(output, defaults), ...sizesOf(output, defaults, lines) };
}

/** Sizes in characters. Where no lines are wanted, no characters are kept for them. */
function sizesOf(output: OutputOptions, defaults: OutputLimits, lines: LineLimits | undefined) {
  const { begin_size: begin, end_size: end } = output;
  const given = sumOf(begin, end);
  const maxSize = output.max_size ?? Math.max(defaults.maxSize, given);
  if (given > maxSize) throw invalid(`begin_size + end_size (${given}) is more than max_size (${maxSize})`);
  if (begin === undefined && end === undefined && lines && isOneSided(lines)) {
    const beginSize = lines.beginLines === 0 ? 0 : maxSize;
    return { maxSize, beginSize, endSize: maxSize - beginSize };
  }
  const beginSize = begin ?? Math.min(defaults.beginSize, beginningOf(maxSize, end));
  return { maxSize, beginSize, endSize: end ?? Math.min(defaults.endSize, maxSize - beginSize) };
}

function lineLimitsOf(output: OutputOptions, defaults: LineLimits | undefined): LineLimits | undefined {
  const { max_lines: max, begin_lines: begin, end_lines: end } = output;
  if ([max, begin, end].every((each) => each === undefined)) return defaults;
  const given = sumOf(begin, end);
  const maxLines = max ?? given;
  if (given > maxLines) throw invalid(`begin_lines + end_lines (${given}) is more than max_lines (${maxLines})`);
  const beginLines = begin ?? beginningOf(maxLines, end);
  return { maxLines, beginLines, endLines: end ?? maxLines - beginLines };
}

const isOneSided = ({ beginLines, endLines }: LineLimits): boolean => beginLines === 0 || endLines === 0;

const sumOf = (begin = 0, end = 0): number => begin + end;

/** The beginning of a whole whose end is given, or not. */
const beginningOf = (whole: number, end: number | undefined): number =>
  end === undefined ? Math.floor(whole / BEGIN_SHARE) : whole - end;

/** Exact bytes have no clipped lines: the configured length does not hold for them. */
function maxLineLengthOf(output: OutputOptions, defaults: OutputLimits): number | undefined {
  if (output.encoding !== 'base64') return output.max_line_length ?? defaults.maxLineLength;
  if (output.max_line_length === undefined) return undefined;
  throw invalid('max_line_length would change the exact bytes that base64 gives: leave one of them out');
}

const invalid = (problem: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `output: ${problem}`, { details: { field: 'output' } });
