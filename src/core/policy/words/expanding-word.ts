import type { Word, WordPart } from 'unbash';

/** Whether a word contains an expansion or a pattern. One that is only quoted has its value in the text. */
export const hasExpansion = ({ parts }: Word): boolean => parts?.some(isExpansion) ?? false;

function isExpansion(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return false;
    case 'DoubleQuoted':
      return part.parts.some(isExpansion);
    default:
      return true;
  }
}
