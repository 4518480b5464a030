import { z } from 'zod';

import * as field from '../protocol/fields.js';
import { fileSearchRequests } from '../protocol/requests/file-search.js';
import { fileRequests } from '../protocol/requests/files.js';
import { defineTool, LOOKS, type Tool } from './tool.js';

/** Most bytes of a file that one `read_file` of a model returns: about 4000 tokens. */
const MAX_TOOL_READ_BYTES = 16_000;

/** Most lines of one `search_files` of a model, and its default: about 2000 tokens. */
const MAX_TOOL_MATCHES = 200;
const DEFAULT_TOOL_MATCHES = 50;

const { optional } = field;
const read = fileRequests.read_file.input.shape;
const search = fileSearchRequests.search_files.input.shape;
const edit = fileRequests.edit_file.input.shape;

const path = field.textWithoutNul('a path').min(1).describe('Absolute, or relative to where commands start');
const session_id = optional(field.sessionId).describe('Take the path from the directory of this session');

/** The tools for files. */
export const FILE_TOOLS: readonly Tool[] = [
  defineTool({
    request: 'read_file',
    title: 'Read a file',
    description:
      'Reads a text file, at most 16000 bytes of whole lines; `next` gives the rest. `line_numbers` puts a number and a tab before ' +
      'each line, which are not in the file.',
    input: z.strictObject({
      path,
      from_line: read.from_line,
      max_lines: optional(z.int().min(1)).describe('Most lines'),
      line_numbers: optional(z.boolean()).describe('Number the lines'),
      offset: optional(z.int().min(0)).describe('Begin at this byte instead'),
      session_id,
    }),
    hints: LOOKS,
    toPayload: ({ offset, from_line, ...rest }) => ({
      ...rest,
      ...(offset === undefined ? { from_line: from_line ?? 1 } : { offset, encoding: 'utf8' as const }),
      length: MAX_TOOL_READ_BYTES,
    }),
  }),
  defineTool({
    request: 'write_file',
    title: 'Write a file',
    description: 'Writes a text file, with the directories above it; replaces the content of one that is there.',
    input: z.strictObject({
      path,
      content: z.string().describe('The whole content'),
      mode: optional(z.enum(['create', 'overwrite', 'append'])).describe('overwrite by default'),
      session_id,
    }),
    hints: { destructiveHint: true, idempotentHint: false },
    toPayload: ({ content, ...rest }) => ({ ...rest, data: content, create_directories: true }),
  }),
  defineTool({
    request: 'edit_file',
    title: 'Edit a file',
    description: 'Replaces an exact text in a file, which must occur once, or everywhere with `all`; gives the diff.',
    input: z.strictObject({
      path,
      old_text: edit.old_text,
      new_text: edit.new_text,
      all: optional(z.boolean()).describe('Replace every occurrence'),
      session_id,
    }),
    hints: { destructiveHint: true },
    toPayload: (args) => args,
  }),
  defineTool({
    request: 'search_files',
    title: 'Search files',
    description:
      'Searches text files below a directory, line by line, for a text or a regular expression; leaves out what .gitignore excludes.',
    input: z.strictObject({
      pattern: search.pattern,
      regex: optional(z.boolean()).describe('Whether it is a regular expression of RE2'),
      ignore_case: optional(z.boolean()).describe('Whether case does not matter'),
      path: optional(path).describe('Directory or file; by default where commands start'),
      glob: optional(z.string().min(1)).describe('Only files of this name, such as *.c'),
      limit: optional(z.int().min(1).max(MAX_TOOL_MATCHES)).describe(`Most lines, ${DEFAULT_TOOL_MATCHES} by default`),
      session_id,
    }),
    hints: LOOKS,
    toPayload: ({ limit, ...rest }) => ({ ...rest, path: rest.path ?? '.', limit: limit ?? DEFAULT_TOOL_MATCHES }),
  }),
];
