import { AdapterError } from '../errors.js';

/** A replacement in a text. */
export interface Edit {
  readonly content: string;
  /** Where the replaced texts were, in UTF-16 units. */
  readonly positions: readonly number[];
}

/** Most line numbers that an error names. */
const MAX_NAMED_LINES = 10;

/**
 * Replaces an exact text.
 * @param all true to replace every occurrence; otherwise there has to be exactly one
 * @throws AdapterError TEXT_NOT_FOUND, TEXT_NOT_UNIQUE, INVALID_REQUEST when nothing would change
 */
export function replaceText(content: string, oldText: string, newText: string, all: boolean): Edit {
  if (oldText === newText) {
    throw new AdapterError('INVALID_REQUEST', 'edit_file: new_text is the same as old_text: nothing would change', {
      details: { field: 'new_text' },
    });
  }
  const positions = positionsOf(content, oldText);
  if (positions.length === 0) throw notFound(content, oldText);
  if (positions.length > 1 && !all) throw notUnique(content, positions);
  return { content: content.split(oldText).join(newText), positions };
}

function positionsOf(content: string, text: string): readonly number[] {
  const positions: number[] = [];
  for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, at + text.length)) positions.push(at);
  return positions;
}

function notFound(content: string, oldText: string): AdapterError {
  const hint = hintFor(content, oldText);
  return new AdapterError(
    'TEXT_NOT_FOUND',
    `old_text is not in the file${hint === undefined ? ': read it again, and give the text exactly' : `; ${hint}`}`,
    { details: { occurrences: 0 } },
  );
}

/** Tells an almost right text apart, which is what models give. */
function hintFor(content: string, oldText: string): string | undefined {
  if (content.includes('\r\n') && !oldText.includes('\r') && content.replaceAll('\r\n', '\n').includes(oldText)) {
    return 'it would be, if its lines ended in \\r\\n as those of the file do';
  }
  const withoutNumbers = oldText.replaceAll(/^\d+\t/gm, '');
  if (withoutNumbers !== oldText && content.includes(withoutNumbers)) {
    return 'it would be without the line numbers, which are not in the file';
  }
  const flat = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  if (flat(oldText) !== '' && flat(content).includes(flat(oldText))) return 'only spaces or line ends differ';
  return undefined;
}

function notUnique(content: string, positions: readonly number[]): AdapterError {
  const lines = positions.slice(0, MAX_NAMED_LINES).map((at) => content.slice(0, at).split('\n').length);
  const more = positions.length > lines.length ? ' and more' : '';
  return new AdapterError(
    'TEXT_NOT_UNIQUE',
    `old_text is in the file ${positions.length} times (lines ${lines.join(', ')}${more}): give more text around it, or all: true`,
    { details: { occurrences: positions.length, lines } },
  );
}
