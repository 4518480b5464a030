import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

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
import { z } from 'zod';

import { trustListOf } from '../model/configuration.js';
import { ConfigurationError, isMapping, type Mapping } from '../model/problems.js';
import { YAML_OPTIONS } from './environment-variables.js';

/** A position in a file; line and column start at 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** A problem found while parsing, before any key is checked. */
interface YamlProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Undefined for a problem of the whole file. */
  readonly position: Position | undefined;
}

/** Content of a parsed configuration file. */
export interface YamlFile {
  readonly tree: Mapping;
  readonly problems: readonly YamlProblem[];
  /**
   * Position of a path: of its key, or of its value. For a path that is not in the file, the position of its nearest
   * ancestor.
   */
  locate(path: readonly PropertyKey[], part: 'key' | 'value'): Position | undefined;
}

/** Converts a text of the file to its value, or reports a problem. */
type ReadText = (text: string, path: readonly PropertyKey[]) => { value: unknown } | { problem: string };

/** Parses the text of a file. Every text value is passed through `readText`. */
export function parseYamlFile(text: string, readText: ReadText): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...YAML_OPTIONS, lineCounter: lines });
  const toPosition: ToPosition = (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const faults = findFaults(document, toPosition);
  const problems = faults.length > 0 ? faults : replaceTexts(document, readText, toPosition);
  return {
    tree: faults.length > 0 ? {} : toTree(document, problems),
    problems,
    locate: (path, part) => {
      const offset = findOffset(document, path, part);
      return offset === undefined ? undefined : toPosition(offset);
    },
  };
}

/** The result for an empty document. */
export const EMPTY_YAML_FILE: YamlFile = { tree: {}, problems: [], locate: () => undefined };

type ToPosition = (offset: number) => Position;

/** Finds the parts that are not valid YAML, or more than plain data. */
function findFaults(document: Document, toPosition: ToPosition): YamlProblem[] {
  const faults = [...document.errors, ...document.warnings].map((error): YamlProblem => {
    return { path: [], message: explainYamlError(error), position: toPosition(error.pos[0]) };
  });
  visit(document, {
    Alias(_key, node) {
      if (node.resolve(document) !== undefined) return;
      const message = `there is no anchor &${node.source} before this`;
      faults.push({ path: [], message, position: toPosition(node.range?.[0] ?? 0) });
    },
  });
  return faults;
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

function replaceTexts(document: Document, readText: ReadText, toPosition: ToPosition): YamlProblem[] {
  const problems: YamlProblem[] = [];
  visit(document, {
    Scalar(key, node: Scalar, ancestors) {
      if (key === 'key' || typeof node.value !== 'string') return;
      const path = pathTo(node, ancestors);
      const read = readText(node.value, path);
      if ('value' in read) node.value = read.value;
      else problems.push({ path, message: read.problem, position: toPosition(node.range?.[0] ?? 0) });
    },
  });
  return problems;
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

function toTree(document: Document, problems: YamlProblem[]): Mapping {
  let tree: unknown;
  try {
    tree = document.toJS();
  } catch (error) {
    // Nested aliases would expand to more nodes than yaml's limit allows: such a file is not written by hand.
    problems.push({ path: [], message: error instanceof Error ? error.message : String(error), position: undefined });
    return {};
  }
  if (tree === null || tree === undefined) return {};
  if (isMapping(tree)) return tree;
  problems.push({ path: [], message: 'must be a mapping with sections', position: { line: 1, column: 1 } });
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

/** An entry of a map or a list. */
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

const trustedFile = z.object({
  /** Absolute, without symbolic links. */
  file: z.string(),
  sha256: z.string(),
  trusted_at: z.string(),
});

const list = z.object({ files: z.array(trustedFile) });

/** A configuration file that its user has trusted, as it was then. */
export type TrustedFile = z.output<typeof trustedFile>;

/** Hash of the content of a file. */
export const contentHash = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/**
 * Reads the list of trusted files; empty when there is none.
 * @throws {ConfigurationError} when it is not the user's own, or damaged
 */
export function readTrustedFiles(env: NodeJS.ProcessEnv): readonly TrustedFile[] {
  const path = trustListOf(env);
  try {
    const text = readPrivate(path);
    return text === undefined ? [] : list.parse(JSON.parse(text)).files;
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? 'it has another form' : (cause as Error).message;
    throw problem(path, `is no list of trusted files: ${reason}. Remove it, and trust them again`, cause);
  }
}

/**
 * Returns the text of a file that the user has trusted; undefined if they have not. What is returned is what was compared:
 * the file may change at any time.
 * @param file absolute, without symbolic links
 * @throws {ConfigurationError} when it has changed since: what to use instead is the user's decision
 */
export function readTrusted(file: string, env: NodeJS.ProcessEnv): string | undefined {
  const trusted = readTrustedFiles(env).find((entry) => entry.file === file);
  if (!trusted) return undefined;
  const content = readFileSync(file);
  if (contentHash(content) === trusted.sha256) return content.toString();
  const remedy = '`shell-adapter config trust` trusts it again, and with --revoke it is ignored';
  throw problem(file, `has changed since you trusted it. Read it first: ${remedy}`);
}

/** Reads a file that no other user can have written; undefined when there is none. */
function readPrivate(path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { uid, mode } = fstatSync(descriptor);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) throw new Error('other users can change it');
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

const problem = (file: string, message: string, cause?: unknown): ConfigurationError =>
  new ConfigurationError([{ file, line: undefined, column: undefined, path: '', message }], { cause });
