import { z } from 'zod';

import { MAX_FILE_ENTRIES, MAX_FILE_MATCHES, MAX_GLOB_LENGTH, STOP_REASONS } from '../../file-edit.js';
import { defineRequests } from '../define-requests.js';
import * as field from '../fields.js';
import { fileOutcome } from '../results.js';
import { onNode } from './nodes.js';

const { entryType, filePath, inSession, mtime, optional } = field;

const glob = z.string().min(1).max(MAX_GLOB_LENGTH);
const includeIgnored = optional(z.boolean()).describe(
  'Also what a .gitignore excludes, and what is in `.git`; left out by default',
);
const searchEnd = {
  skipped: z.int().describe('What could not be searched: it is not readable, too large, too deep, or not text'),
  stopped: z
    .enum(STOP_REASONS)
    .nullable()
    .describe('Why it has stopped before its end: `limit`, its time, or its bytes; null when all was searched'),
};

/** The requests that search files. */
export const fileSearchRequests = defineRequests({
  find_files: {
    summary: 'Finds files and directories by their names, without following links.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'safe',
    isLong: true,
    example: { path: 'src', pattern: '**/*.test.ts', type: 'file' },
    input: () =>
      z.strictObject({
        path: optional(filePath).describe('Where to begin; the directory of the session, or the workspace, by default'),
        session_id: inSession,
        node: onNode,
        pattern: optional(glob).describe('A [glob](#globs), such as `*.c` or `src/**/test-*`; everything by default'),
        type: optional(entryType).describe('Only entries of this kind'),
        include_ignored: includeIgnored,
        limit: optional(z.int().min(1).max(MAX_FILE_ENTRIES)).describe('Most entries to return; 1000 by default'),
      }),
    output: () =>
      z.object({
        path: z.string().describe('Where it began, absolute and without links'),
        matches: z.array(
          z.object({
            path: z.string().describe('Relative to where it began'),
            type: entryType,
            size: z.int().nullable().describe('In bytes; null for what is no file'),
            mtime_ms: mtime,
          }),
        ),
        ...searchEnd,
        ...fileOutcome,
      }),
  },
  search_files: {
    summary: 'Searches text files, line by line, without following links.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'safe',
    isLong: true,
    example: { pattern: 'TODO|FIXME', regex: true, glob: '*.c', limit: 50 },
    input: () =>
      z.strictObject({
        path: optional(filePath).describe('A directory or a file; that of the session, or the workspace, by default'),
        session_id: inSession,
        node: onNode,
        pattern: z.string().min(1).max(field.MAX_PATTERN_LENGTH).describe('The text to find, within one line'),
        regex: optional(z.boolean()).describe(
          'Whether `pattern` is a regular expression of [RE2](https://github.com/google/re2/wiki/Syntax)',
        ),
        ignore_case: optional(z.boolean()),
        glob: optional(glob).describe('Only files that match this [glob](#globs)'),
        include_ignored: includeIgnored,
        limit: optional(z.int().min(1).max(MAX_FILE_MATCHES)).describe('Most lines to return; 200 by default'),
      }),
    output: () =>
      z.object({
        path: z.string().describe('Where it began, absolute and without links'),
        matches: z.array(
          z.object({
            path: z.string().describe('Relative to where it began'),
            line: z.int().describe('Number of the line, from 1'),
            offset: z.int().describe('Where the line begins in the file, in bytes'),
            text: z.string().max(field.MAX_MATCH_CHARACTERS).describe('The line, or the part around the match'),
          }),
        ),
        searched: z.int().describe('How many files were searched'),
        ...searchEnd,
        ...fileOutcome,
      }),
  },
});
