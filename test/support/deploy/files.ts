import { readFileSync } from 'node:fs';

import { parseAllDocuments } from 'yaml';

/** The text of a file in the root of the repository. */
export const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The documents of a YAML file. */
export const readYaml = (path: string): unknown[] =>
  parseAllDocuments(read(path), { merge: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]!;
    return document.toJS() as unknown;
  });
