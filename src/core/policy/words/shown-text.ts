import { POLICY_LIMITS } from '../model/limits.js';

/** A text, shortened for use in reasons. */
export function shorten(text: string): string {
  const { maxShownText } = POLICY_LIMITS;
  const onOneLine = text.replace(/\s+/g, ' ').trim();
  return onOneLine.length > maxShownText ? `${onOneLine.slice(0, maxShownText)}…` : onOneLine;
}
