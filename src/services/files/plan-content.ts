import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';

import { AdapterError } from '../../core/errors.js';
import { decodeText, DEFAULT_FILE_BYTES, numberLines, textPart } from '../../core/file-edit.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { SecretMask } from '../../core/secrets.js';
import type { Expected, FileJobOf, FileResult, ReadLines, ReadPart } from '../../engine/files/file-job.js';
import { OutputMask } from '../../engine/output/output-mask.js';
import type { JudgedFileRequest } from '../gate/file-gate.js';
import type { FilePlace } from './file-place.js';
import { type FilePlan, type FilePlanner, NO_STATE, pathsOf, permissionsOf, stateOf } from './file-plan.js';

/** Longest content that a decider is shown, in bytes. */
const MAX_SHOWN_BYTES = 64 * 1024;

type Reading = Request<'read_file'>;

const sha256Of = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

export const planRead: FilePlanner<'read_file'> = async (request, place, secrets) => {
  const at = await place.locate(request.path, true);
  const paths = pathsOf(at);
  const { from_line: from = 1, max_lines: count, line_numbers: isNumbered = false } = request;
  const isOfLines = request.from_line !== undefined || count !== undefined || isNumbered;
  const length = request.length ?? DEFAULT_FILE_BYTES;
  return {
    at,
    judgedAs: { command: 'cat', args: ['--', ...paths] },
    shown: { command: 'read_file', args: paths },
    writes: 0,
    perform: async (performer) => {
      if (!isOfLines)
        return renderPart(
          await performer.perform({ kind: 'read', at, offset: request.offset ?? 0, length }),
          request,
          secrets,
        );
      const lines = { kind: 'lines', at, from, count: count ?? Number.MAX_SAFE_INTEGER, maxBytes: length } as const;
      return renderLines(await performer.perform(lines), isNumbered);
    },
    nothing: { ...NO_STATE, data: '', offset: 0, length: 0, eof: false },
  };
};

function renderPart(part: ReadPart, { encoding }: Reading, secrets: SecretMask): Answer<'read_file'> {
  const { data, offset, size } = part;
  const state = stateOf(part);
  const isAtEnd = offset + data.length >= size;
  if (encoding === 'utf8') {
    const { text, skipped, length } = textPart(data, offset === 0, isAtEnd);
    return { ...state, data: text, offset: offset + skipped, length, eof: isAtEnd };
  }
  const bytes = masked(data, secrets);
  const shown = encoding === 'base64' ? Buffer.from(bytes).toString('base64') : bytes;
  return { ...state, data: shown, offset, length: data.length, eof: isAtEnd };
}

function renderLines(part: ReadLines, isNumbered: boolean): Answer<'read_file'> {
  const { data, offset, size, firstLine, lines } = part;
  const { text, length } = textPart(data, true, offset + data.length >= size);
  return {
    ...stateOf(part),
    data: isNumbered ? numberLines(text, firstLine) : text,
    offset,
    length,
    eof: offset + length >= size,
    from_line: firstLine,
    lines,
  };
}

/** Bytes with the secrets in them masked, as those that a command prints; texts are masked with the whole answer. */
function masked(bytes: Uint8Array, { patterns }: SecretMask): Uint8Array {
  if (patterns.length === 0) return bytes;
  const mask = new OutputMask(patterns);
  return Buffer.concat([mask.push(Buffer.from(bytes)), mask.flush()]);
}

export const planWrite: FilePlanner<'write_file'> = async (request, place) => {
  const content = contentOf(request);
  return withContent(await planUpload(request, place), content);
};

/** A write whose content is not known yet. */
export interface UploadPlan extends JudgedFileRequest {
  readonly job: FileJobOf<'write'>;
}

/** Conditions of a write that only HTTP has. */
export interface WriteConditions extends Pick<Expected, 'versions' | 'size'> {
  /** SHA-256 of the content, as hexadecimal digits. */
  readonly digest?: string | undefined;
  /** See the job. */
  readonly resume?: FileJobOf<'write'>['resume'];
}

/** A write whose content comes later. */
export type UploadRequest = Omit<Request<'write_file'>, 'data'>;

/** The answer to a write. */
export type Written = Answer<'write_file'>;

/** Plans a write whose content comes later. */
export async function planUpload(
  request: UploadRequest,
  place: FilePlace,
  { digest, resume, ...expected }: WriteConditions = {},
): Promise<UploadPlan> {
  const at = await place.locate(request.path, true);
  const { mode = 'overwrite', create_directories: createDirectories = false, permissions } = request;
  const paths = pathsOf(at);
  const shown = [...paths, `mode: ${mode}`, ...(permissions === undefined ? [] : [`permissions: ${permissions}`])];
  return {
    judgedAs: { command: 'tee', args: [...(mode === 'append' ? ['-a'] : []), '--', ...paths] },
    shown: { command: 'write_file', args: shown },
    job: {
      kind: 'write',
      at,
      mode,
      createDirectories,
      permissions: permissionsOf(permissions),
      expected: { ...expected, sha256: request.expected_sha256, mtimeMs: request.expected_mtime_ms },
      digest,
      resume,
    },
  };
}

/** The plan of a write with its content. */
export function withContent({ job, shown, judgedAs }: UploadPlan, content: Uint8Array): FilePlan<'write_file'> {
  const text = shownContent(content);
  const described = `content: ${content.length} bytes, sha256 ${sha256Of(content)}`;
  return {
    at: job.at,
    judgedAs,
    shown: { ...shown, args: [...(shown.args ?? []), described], ...(text !== undefined && { stdin: text }) },
    writes: content.length,
    perform: async (performer) => renderWritten(await performer.perform(job, content)),
    nothing: { ...NO_STATE, created: false },
  };
}

/** The answer for a file that was written. */
export const renderWritten = (written: FileResult<'write'>): Written => ({
  ...stateOf(written),
  created: written.created,
});

/**
 * The bytes of a request.
 * @throws AdapterError INVALID_REQUEST for a text that is not base64
 */
function contentOf({ data, encoding }: Request<'write_file'>): Uint8Array {
  if (typeof data !== 'string') return data;
  if (encoding !== 'base64') return Buffer.from(data);
  const bytes = Buffer.from(data, 'base64');
  if (bytes.toString('base64').replace(/=+$/, '') === data.replaceAll(/\s+/g, '').replace(/=+$/, '')) return bytes;
  throw new AdapterError('INVALID_REQUEST', 'write_file: data: is not base64', { details: { field: 'data' } });
}

/** The content as a decider sees it; undefined for one that is too long, or is not text. */
const shownContent = (content: Uint8Array): string | undefined =>
  content.length <= MAX_SHOWN_BYTES && isUtf8(content) && !content.includes(0) ? decodeText(content) : undefined;

/** Plans an edit: it reads the file, since the diff shows what is around a change, and writes it. */
export const planEdit: FilePlanner<'edit_file'> = async (request, place) => {
  const at = await place.locate(request.path, true);
  const { old_text: oldText, new_text: newText, all = false } = request;
  const paths = pathsOf(at);
  const target = at.real ?? at.path;
  const change = shownContent(Buffer.from(`replace${all ? ' all' : ''}:\n${oldText}\nby:\n${newText}\n`));
  return {
    at,
    judgedAs: { command: 'cp', args: ['--', target, at.path] },
    shown: {
      command: 'edit_file',
      args: [...paths, `replace ${sha256Of(oldText)} by ${sha256Of(newText)}${all ? ', all' : ''}`],
      ...(change !== undefined && { stdin: change }),
    },
    writes: Buffer.byteLength(newText),
    perform: async (performer) => {
      const job = { kind: 'edit', at, oldText, newText, all, expected: { sha256: request.expected_sha256 } } as const;
      const edited = await performer.perform(job);
      return {
        ...stateOf(edited),
        replaced: edited.replaced,
        diff: edited.diff,
        diff_truncated: edited.isTruncated,
      };
    },
    nothing: { ...NO_STATE, replaced: 0, diff: '', diff_truncated: false },
  };
};
