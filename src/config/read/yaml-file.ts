import { readFileSync } from 'node:fs';

import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
} from 'yaml';

import { isMapping, type JsonObject } from '../../core/json.js';
import { configurationError, type ConfigurationProblem, type Position, problemIn } from '../model/problems.js';
import { expandVariables, YAML_OPTIONS } from './environment-variables.js';

export interface YamlFile {
  readonly tree: JsonObject;
  /** Found while parsing, before any key is checked. */
  readonly problems: readonly ConfigurationProblem[];
  /**
   * Position of a path: of its key, or of its value. For a path that is not in the file, the position of its nearest
   * ancestor.
   */
  locate(path: readonly PropertyKey[], part: 'key' | 'value'): Position | undefined;
  problemAt(path: readonly PropertyKey[], part: 'key' | 'value', message: string): ConfigurationProblem;
}

/**
 * Reads a file of UTF-8.
 * @param path key that names the file, for the message
 * @throws {ConfigurationError} when it is missing, unreadable, a directory, or not UTF-8
 */
export function readText(file: string, path = ''): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    throw configurationError(path, `cannot be read: ${reasonOf(cause)}`, { file, cause });
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** How the texts of a file become values. */
interface TextRules {
  /** Values of `${NAME}`. */
  readonly env: NodeJS.ProcessEnv;
  /** Makes a value at a path of the text that stands for a value which is nothing but `${NAME}`. */
  readonly read: (text: string, path: readonly PropertyKey[]) => unknown;
}

/** Parses the text of a file, and expands the variables in its values. */
export function parseYamlFile(file: string, text: string, rules: TextRules): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...YAML_OPTIONS, lineCounter: lines });
  const toPosition = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const problems: ConfigurationProblem[] = [];
  const report: Report = (message, offset, path = []) => {
    problems.push(problemIn(file, path, message, offset === undefined ? undefined : toPosition(offset)));
  };
  findFaults(document, report);
  const isValid = problems.length === 0;
  if (isValid) expandTexts(document, rules, report);
  const locate: YamlFile['locate'] = (path, part) => {
    const offset = findOffset(document, path, part);
    return offset === undefined ? undefined : toPosition(offset);
  };
  return {
    tree: isValid ? toTree(document, report) : {},
    problems,
    locate,
    problemAt: (path, part, message) => problemIn(file, path, message, locate(path, part)),
  };
}

/** @param offset undefined for a problem of the whole file */
type Report = (message: string, offset: number | undefined, path?: readonly PropertyKey[]) => void;

/** Finds the parts that are not valid YAML, or more than plain data. */
function findFaults(document: Document, report: Report): void {
  for (const error of [...document.errors, ...document.warnings]) report(explainYamlError(error), error.pos[0]);
  visit(document, {
    Alias(_key, node) {
      if (node.resolve(document) !== undefined) return;
      report(`there is no anchor &${node.source} before this`, node.range?.[0] ?? 0);
    },
  });
}

function explainYamlError(error: YAMLError): string {
  switch (error.code) {
    case 'DUPLICATE_KEY':
      return 'this key is there twice';
    case 'MULTIPLE_DOCS':
      return 'a second document begins here; the file may hold one';
    case 'TAG_RESOLVE_FAILED':
      return `tags that make other than plain data are refused (${error.message})`;
    default:
      return error.message;
  }
}

function expandTexts(document: Document, { env, read }: TextRules, report: Report): void {
  visit(document, {
    Scalar(key, node: Scalar, ancestors) {
      const { value: text } = node;
      if (key === 'key' || typeof text !== 'string') return;
      const path = pathTo(node, ancestors);
      const expansion = expandVariables(text, env);
      if ('problem' in expansion) {
        report(expansion.problem, node.range?.[0] ?? 0, path);
        return;
      }
      const isWhole = text.startsWith('${') && text.endsWith('}');
      node.value = isWhole ? read(expansion.text, path) : expansion.text;
    },
  });
}

function pathTo(node: Scalar, ancestors: readonly (Document | Node | Pair)[]): PropertyKey[] {
  return ancestors.flatMap((ancestor, index): PropertyKey[] => {
    if (isPair(ancestor)) return [keyOf(ancestor)];
    return isSeq(ancestor) ? [ancestor.items.indexOf(ancestors[index + 1] ?? node)] : [];
  });
}

function keyOf(pair: Pair): string {
  return String(isScalar(pair.key) ? pair.key.value : pair.key);
}

function toTree(document: Document, report: Report): JsonObject {
  let tree: unknown;
  try {
    tree = document.toJS();
  } catch (error) {
    // Nested aliases would expand to more nodes than yaml's limit allows: such a file is not written by hand.
    report(reasonOf(error), undefined);
    return {};
  }
  if (tree === null || tree === undefined) return {};
  if (isMapping(tree)) return tree;
  report('must be a mapping with sections', 0);
  return {};
}

function findOffset(document: Document, path: readonly PropertyKey[], part: 'key' | 'value'): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const [index, step] of path.entries()) {
    const entry = entryAt(isAlias(node) ? node.resolve(document) : node, step);
    if (!entry) break;
    const isLast = index === path.length - 1;
    const target = isLast && part === 'value' && isPresent(entry.value) ? entry.value : entry.mark;
    offset = startOf(target) ?? offset;
    node = entry.value;
  }
  return offset;
}

interface Entry {
  readonly value: unknown;
  /** The place that stands for the entry: its key, or in a list its value. */
  readonly mark: unknown;
}

function entryAt(node: unknown, step: PropertyKey): Entry | undefined {
  if (isMap(node)) {
    const pair = node.items.find((candidate) => keyOf(candidate) === step);
    return pair && { value: pair.value, mark: pair.key };
  }
  const value: unknown = isSeq(node) && typeof step === 'number' ? node.items[step] : undefined;
  return value === undefined ? undefined : { value, mark: value };
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

/** An empty value has no text: its key is the position to report. */
function isPresent(node: unknown): boolean {
  return isNode(node) && node.range !== undefined && node.range !== null && node.range[0] < node.range[1];
}
