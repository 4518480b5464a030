import { type Document, isNode, parseDocument, visit } from 'yaml';

/** Options for parsing YAML: YAML 1.2's core schema, which can express nothing but plain data. */
export const YAML_OPTIONS = {
  schema: 'core',
  strict: true,
  uniqueKeys: true,
  resolveKnownTags: false,
  prettyErrors: false,
  logLevel: 'error',
} as const;

/**
 * Converts the text of a variable to a value where no text is expected: parsed as YAML, so that `8087` is a number and
 * `[a, b]` a list. Invalid YAML stays text.
 */
export function readValue(text: string): unknown {
  const document = parseDocument(text, YAML_OPTIONS);
  if (document.errors.length > 0 || document.warnings.length > 0 || !isNode(document.contents)) return text;
  return hasAlias(document) ? text : document.toJS();
}

function hasAlias(document: Document): boolean {
  const aliases: unknown[] = [];
  visit(document, { Alias: (_key, node) => void aliases.push(node) });
  return aliases.length > 0;
}

/** Describes a value for messages: `the text "abc"`, `the number 5`, `a list`. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'string') return `the text ${quote(value)}`;
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${value}`;
  if (typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'a list' : 'a mapping';
}

/** Longest quotation in a message, in characters. */
const MAX_QUOTED = 80;

/** Quotes a text for a message: on one line, without control characters, truncated if it is too long. */
export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}
