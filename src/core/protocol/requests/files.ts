import { z } from 'zod';

import {
  DEFAULT_FILE_BYTES,
  MAX_FILE_BYTES,
  MAX_FILE_ENTRIES,
  MAX_HASHED_BYTES,
  MAX_PATH_LENGTH,
} from '../../file-edit.js';
import { defineRequests } from '../define-requests.js';
import * as field from '../fields.js';
import { fileOutcome } from '../results.js';
import { onNode } from './nodes.js';

const { entryType, filePath, inSession, mtime, optional } = field;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hexadecimal digits');

const permissions = z
  .string()
  .regex(/^0?[0-7]{3}$/, 'must be three octal digits, such as 644')
  .describe('Permissions of the file, in octal digits, such as `644`');

const size = z.int().describe('Of the whole file, in bytes');
const wholeSha256 = sha256
  .nullable()
  .describe(`SHA-256 of the whole file; null for a file above ${MAX_HASHED_BYTES / 1024 / 1024} MiB`);
const expectedSha256 = optional(sha256).describe('Fails with `FILE_CHANGED` unless the file has this content now');

const mode = z.string().describe('Permissions, in octal digits');

/** The requests about files. */
export const fileRequests = defineRequests({
  read_file: {
    summary: 'Reads a part of a file, or lines of it.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'safe',
    isLong: true,
    example: { path: 'src/main.c', from_line: 40, max_lines: 20, session_id: 'session_ID' },
    input: () =>
      z
        .strictObject({
          path: filePath,
          session_id: inSession,
          node: onNode,
          offset: optional(z.int().min(0)).describe('Where to begin, in bytes; 0 by default'),
          length: optional(z.int().min(1).max(MAX_FILE_BYTES)).describe(
            `Most bytes to read; ${DEFAULT_FILE_BYTES} by default`,
          ),
          encoding: optional(z.enum(['bytes', 'utf8', 'base64'])).describe(
            '`bytes` by default. `utf8` gives text, and fails with `NOT_TEXT` for anything else',
          ),
          from_line: optional(z.int().min(1)).describe('Begin at this line instead, from 1; the answer is text'),
          max_lines: optional(z.int().min(1)).describe('Most lines to read, within `length`; the answer is text'),
          line_numbers: optional(z.boolean()).describe('Begin each line with its number and a tab; the answer is text'),
        })
        .refine(isOneKindOfRange, { error: 'give offset or from_line, not both', path: ['from_line'] })
        .refine(isText, { error: 'lines are text: leave encoding out', path: ['encoding'] }),
    output: () =>
      z.object({
        data: z.union([field.bytes, z.string()]).describe('The part, in the encoding asked for'),
        offset: z.int().describe('Where it begins, in bytes; of text, the begin of a character'),
        length: z.int().describe('Bytes of the file that it has: the next part begins at `offset` + `length`'),
        size,
        sha256: wholeSha256,
        mtime_ms: mtime,
        eof: z.boolean().describe('Whether the part reaches the end of the file'),
        from_line: optional(z.int()).describe('Of lines: the number of the first'),
        lines: optional(z.int()).describe(
          'Of lines: how many there are in it. They are whole ones, unless the first is longer than `length`',
        ),
        ...fileOutcome,
      }),
  },
  write_file: {
    summary: 'Writes a file. A reader sees the old content or the new, never a part of it.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'never',
    isLong: true,
    example: {
      path: 'notes/today.md',
      data: 'Call the dentist.\n',
      create_directories: true,
      permissions: '644',
    },
    input: () =>
      z.strictObject({
        path: filePath,
        session_id: inSession,
        node: onNode,
        data: z.union([z.string(), field.bytes]).describe('The content: bytes, or text'),
        encoding: optional(z.enum(['utf8', 'base64'])).describe('What a text in `data` is; `utf8` by default'),
        mode: optional(z.enum(['create', 'overwrite', 'append'])).describe(
          '`overwrite` by default, which also creates; `create` fails with `FILE_EXISTS` if there is one',
        ),
        create_directories: optional(z.boolean()).describe('Make the directories that are missing above it'),
        permissions: optional(permissions).describe('In octal digits, such as `644`; by default those it has'),
        expected_sha256: expectedSha256,
        expected_mtime_ms: optional(z.number()).describe('The same for the time of its last change'),
      }),
    output: () =>
      z.object({
        size,
        sha256: wholeSha256,
        created: z.boolean().describe('Whether there was no such file before'),
        mtime_ms: mtime,
        ...fileOutcome,
      }),
  },
  edit_file: {
    summary: 'Replaces an exact text in a file.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'never',
    isLong: true,
    example: { path: 'src/main.c', old_text: 'return 1;', new_text: 'return 0;' },
    input: () =>
      z.strictObject({
        path: filePath,
        session_id: inSession,
        node: onNode,
        old_text: z.string().min(1).describe('The text to replace, exactly, with its spaces and line ends'),
        new_text: z.string().describe('The text to put in its place'),
        all: optional(z.boolean()).describe('Replace every occurrence; by default there has to be exactly one'),
        expected_sha256: expectedSha256,
      }),
    output: () =>
      z.object({
        replaced: z.int().describe('How many occurrences were replaced'),
        diff: z.string().describe('What has changed, as a unified diff of at most 16,000 characters'),
        diff_truncated: z.boolean(),
        sha256: wholeSha256,
        size,
        mtime_ms: mtime,
        ...fileOutcome,
      }),
  },
  list_directory: {
    summary: 'Lists the entries of a directory, by name.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'safe',
    isLong: true,
    example: { path: 'src', limit: 100 },
    input: () =>
      z.strictObject({
        path: optional(filePath).describe('The directory of the session, or the workspace, by default'),
        session_id: inSession,
        node: onNode,
        after: optional(z.string().max(MAX_PATH_LENGTH)).describe('`next` of the answer before'),
        limit: optional(z.int().min(1).max(MAX_FILE_ENTRIES)).describe('Most entries to return; 1000 by default'),
      }),
    output: () =>
      z.object({
        path: z.string().describe('The directory, absolute and without links'),
        entries: z.array(
          z.object({
            name: z.string(),
            type: entryType,
            size: z.int().nullable().describe('In bytes; null for what is no file'),
            mode,
            mtime_ms: mtime,
            target: optional(z.string()).describe('Of a link: what it says'),
          }),
        ),
        next: z.string().nullable().describe('`after` of the request for further ones; null at the end'),
        ...fileOutcome,
      }),
  },
  stat_path: {
    summary: 'Describes a file or a directory.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'safe',
    isLong: true,
    example: { path: 'src/main.c' },
    input: () =>
      z.strictObject({
        path: filePath,
        session_id: inSession,
        node: onNode,
        hash: optional(z.boolean()).describe(
          'Also the SHA-256 of a file of any size, which takes a second for each GB or so',
        ),
      }),
    output: () =>
      z.object({
        path: z.string().describe('The path, absolute'),
        real_path: z.string().describe('The same after all links'),
        type: entryType.describe('After all links; `link` for one that leads nowhere'),
        size: z.int().nullable().describe('In bytes; null for what is no file'),
        mode,
        uid: z.int().describe('User id of the owner'),
        gid: z.int().describe('Group id'),
        mtime_ms: mtime,
        target: optional(z.string()).describe('If the path itself is a link: what it says'),
        sha256: optional(sha256).describe('With `hash`, of a file: its SHA-256'),
        ...fileOutcome,
      }),
  },
  make_directory: {
    summary: 'Makes a directory.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'never',
    isLong: true,
    example: { path: 'build/output', parents: true },
    input: () =>
      z.strictObject({
        path: filePath,
        session_id: inSession,
        node: onNode,
        parents: optional(z.boolean()).describe('Make those above it too; that it exists already is no error'),
        permissions: optional(permissions).describe('Of the directory, in octal digits'),
      }),
    output: () =>
      z.object({
        path: z.string().describe('The directory, absolute'),
        created: z.boolean().describe('False when it existed already'),
        ...fileOutcome,
      }),
  },
  move_path: {
    summary: 'Moves or renames a file or a directory. A link is moved itself.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'never',
    isLong: true,
    example: { path: 'draft.md', to: 'final.md', overwrite: true },
    input: () =>
      z.strictObject({
        path: filePath,
        to: filePath.describe('Its new path, not the directory to put it in'),
        session_id: inSession,
        node: onNode,
        overwrite: optional(z.boolean()).describe('Replace a file that is there; by default that is `FILE_EXISTS`'),
      }),
    output: () =>
      z.object({
        path: z.string().describe('Where it is now, absolute'),
        replaced: z.boolean().describe('Whether it has replaced a file'),
        ...fileOutcome,
      }),
  },
  remove_path: {
    summary: 'Removes a file, or a directory. A link is removed itself.',
    role: 'agent',
    recorded: 'each',
    route: 'workspace',
    repeat: 'never',
    isLong: true,
    example: { path: 'build', recursive: true },
    input: () =>
      z.strictObject({
        path: filePath,
        session_id: inSession,
        node: onNode,
        recursive: optional(z.boolean()).describe('Remove a directory with all that is in it'),
      }),
    output: () =>
      z.object({
        removed: z.int().describe('How many files and directories'),
        ...fileOutcome,
      }),
  },
});

/** The parts of a read that say where it begins, and what it gives. */
interface Range {
  readonly offset?: number | undefined;
  readonly from_line?: number | undefined;
  readonly max_lines?: number | undefined;
  readonly line_numbers?: boolean | undefined;
  readonly encoding?: string | undefined;
}

function isOneKindOfRange({ offset, from_line }: Range): boolean {
  return offset === undefined || from_line === undefined;
}

function isText({ from_line, max_lines, line_numbers, encoding }: Range): boolean {
  const hasLines = from_line !== undefined || max_lines !== undefined || line_numbers === true;
  return !hasLines || encoding === undefined || encoding === 'utf8';
}
