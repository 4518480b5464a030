import { type Document, isNode, parseDocument, visit } from 'yaml';

import { findNearest } from '../../core/nearest.js';
import { type ConfigurationProblem, problemIn } from '../model/problems.js';
import { type Setting, variableName } from '../model/settings.js';

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

/** The value of a variable where the schema expects this kind: text stays what it is, and what is no list stays text for one. */
export function readAs(kind: Setting['kind'], text: string): unknown {
  if (kind === 'text') return text;
  const value = readValue(text);
  return kind === 'list' && !Array.isArray(value) ? text : value;
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

/** A value that comes before the one in the file. */
export interface Override {
  readonly path: readonly string[];
  readonly value: unknown;
  /** The environment variable; undefined for a flag. */
  readonly name: string | undefined;
}

/** The source of an override in problems. */
export const placeOf = (name: string | undefined): string =>
  name === undefined ? 'command line' : `environment variable ${name}`;

/**
 * Reads the `SHELL_ADAPTER_<SECTION>_<KEY>` variables. Numbers, lists (`[a, b]`, or `a,b`) and mappings (`{A: b}`) are
 * written as in YAML. Variables with the prefix that name no section, such as SHELL_ADAPTER_URL, are ignored; others that
 * match no key are problems.
 */
export function readEnvironmentVariables(env: NodeJS.ProcessEnv, settings: readonly Setting[]) {
  const byName = new Map(settings.map((setting) => [variableName(setting.path), setting]));
  const sections = [...new Set(settings.map((setting) => `${variableName(setting.path.slice(0, 1))}_`))];
  const overrides: Override[] = [];
  const problems: ConfigurationProblem[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !sections.some((section) => name.startsWith(section))) continue;
    const setting = byName.get(name);
    if (setting) overrides.push({ name, path: setting.path, value: readSetting(text, setting) });
    else problems.push(problemIn(placeOf(name), '', explainUnknown(name, byName.keys())));
  }
  return { overrides, problems };
}

function readSetting(text: string, setting: Setting): unknown {
  if (setting.kind === 'text') return text;
  const value = readValue(text);
  if (setting.kind !== 'list' || typeof value !== 'string') return value;
  const entries = value.split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '');
}

function explainUnknown(name: string, known: Iterable<string>): string {
  const nearest = findNearest(name, known);
  return nearest === undefined ? 'overrides no key' : `overrides no key; did you mean ${nearest}?`;
}

/** A text with its variables expanded, or the problem that prevents it. */
type Expansion = { readonly text: string } | { readonly problem: string };

const REFERENCE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/**
 * Expands `${NAME}` and `${NAME:-default}` from `env`. As in a shell, the default replaces an unset or empty variable
 * and may contain variables. `$${` is a literal `${`. An unset variable without a default is a problem.
 */
export function expandVariables(text: string, env: NodeJS.ProcessEnv): Expansion {
  let expanded = '';
  let rest = text;
  for (;;) {
    const start = rest.indexOf('${');
    if (start === -1) return { text: expanded + rest };
    if (rest[start - 1] === '$') {
      expanded += `${rest.slice(0, start - 1)}\${`;
      rest = rest.slice(start + 2);
      continue;
    }
    const end = findClosingBrace(rest, start + 2);
    if (end === undefined) return { problem: 'has a "${" without its "}"; a literal "${" is written "$${"' };
    const value = resolveReference(rest.slice(start + 2, end), env);
    if ('problem' in value) return value;
    expanded += rest.slice(0, start) + value.text;
    rest = rest.slice(end + 1);
  }
}

function resolveReference(reference: string, env: NodeJS.ProcessEnv): Expansion {
  const match = REFERENCE.exec(reference);
  const name = match?.[1];
  if (name === undefined) {
    return { problem: `has "\${${reference}}", which is not \${NAME} or \${NAME:-default}` };
  }
  const fallback = match?.[2];
  const value = env[name];
  if (fallback !== undefined && (value === undefined || value === '')) return expandVariables(fallback, env);
  if (value === undefined) {
    return {
      problem: `needs the environment variable ${name}, which is not set; \${${name}:-default} would give a default`,
    };
  }
  return { text: value };
}

/** Index of the `}` that closes the reference around position `from`. */
function findClosingBrace(text: string, from: number): number | undefined {
  let depth = 1;
  for (let index = from; index < text.length; index += 1) {
    if (text.startsWith('$${', index)) index += 2;
    else if (text.startsWith('${', index)) depth += 1;
    else if (text[index] === '}') depth -= 1;
    if (depth === 0) return index;
  }
  return undefined;
}
