import type { z } from 'zod';
import { findNearest } from '../../core/validation/nearest.js';
import { formatPath } from '../model/problems.js';
import { isSection, listKeys, type Setting } from '../model/settings.js';
import { isMapping, valueAt } from '../model/tree.js';
import { describeValue, quote, readValue } from './values.js';

/** A problem that the schema has found. */
export interface SchemaProblem {
  readonly path: readonly PropertyKey[];
  /** The part of the path with the problem. */
  readonly part: 'key' | 'value';
  readonly message: string;
}

/** Describes a problem in `tree` for people: the value found, and the accepted ones. */
export function explainIssue(
  issue: z.core.$ZodIssue,
  tree: unknown,
  settings: readonly Setting[],
): readonly SchemaProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      return {
        path: [...issue.path, key],
        part: 'key',
        message: explainUnknownKey(issue.path, key, { settings, tree }),
      };
    });
  }
  if (issue.code === 'invalid_key') {
    return [{ path: issue.path, part: 'key', message: issue.issues[0]?.message ?? issue.message }];
  }
  const sentence = isSection(settings, issue.path) ? 'must be a mapping of keys to values' : issue.message;
  const found = sentence.startsWith('must be') ? explainFound(valueAt(tree, issue.path), sentence) : '';
  return [{ path: issue.path, part: 'value', message: sentence + found }];
}

function explainFound(value: unknown, sentence: string): string {
  if (value === null) return '; there is nothing, leave the key out for its default';
  const isQuoted = typeof value === 'string' && sentence.includes('number') && typeof readValue(value) === 'number';
  return `; got ${describeValue(value)}${isQuoted ? ', write it without quotes' : ''}`;
}

function explainUnknownKey(
  section: readonly PropertyKey[],
  key: string,
  { settings, tree }: { readonly settings: readonly Setting[]; readonly tree: unknown },
): string {
  const inner = section.length === 0 ? sectionsIn(valueAt(tree, [key]), settings) : [];
  if (inner.length > 0) {
    const sections = inner.map(quote).join(', ');
    return `unknown key; ${sections} in it ${inner.length === 1 ? 'belongs' : 'belong'} to the top level of the file: remove this line, and the indentation below it`;
  }
  const keys = listKeys(settings, section);
  const nearest = findNearest(key, keys);
  if (nearest !== undefined) return `unknown key; did you mean ${quote(nearest)}?`;
  const elsewhere = settings.find((setting) => setting.path.at(-1) === key);
  if (elsewhere) return `unknown key; did you mean ${quote(formatPath(elsewhere.path))}?`;
  const place = section.length === 0 ? 'The sections are' : `The keys of ${formatPath(section)} are`;
  return `unknown key. ${place} ${keys.join(', ')}`;
}

/** Names of the keys of a value that are sections of the configuration. */
function sectionsIn(value: unknown, settings: readonly Setting[]): string[] {
  const sections = listKeys(settings, []);
  return isMapping(value) ? Object.keys(value).filter((key) => sections.includes(key)) : [];
}
