import { PERMISSIONS } from '../protocol/permissions.js';
import type { JsonSchema } from './schemas.js';

/** Path of files in the description. */
export const FILE_PATH = '/v1/files/{path}';

const text = (description: string, more: object = {}) => ({ description, schema: { type: 'string', ...more } });
const header = (name: string, description: string) => ({ name, in: 'header', ...text(description) });
const query = (name: string, description: string, more?: object) => ({ name, in: 'query', ...text(description, more) });

/** Parameters of `GET`, `HEAD` and `PUT`. */
export const FILE_PARAMETERS = {
  FilePath: {
    name: 'path',
    in: 'path',
    required: true,
    ...text('Relative to the directory of the session, or to the workspace; an absolute path begins with `%2F`'),
  },
  FileSession: query('session_id', 'The session whose directory and sandbox count'),
  IfMatch: header('If-Match', 'Entity tags: fails with 412 unless the file has one of them now'),
  IfNoneMatch: header(
    'If-None-Match',
    'Of a read: entity tags that get 304; of a write: `*` fails with 412 if there is a file',
  ),
} as const;

const parameter = (name: keyof typeof FILE_PARAMETERS) => ({ $ref: `#/components/parameters/${name}` });
const COMMON = [parameter('FilePath'), parameter('FileSession'), parameter('IfMatch'), parameter('IfNoneMatch')];
const FAILURE = { $ref: '#/components/responses/Failure' };
const BYTES = { 'application/octet-stream': {} };
const HEADERS = {
  ETag: text('Tells the versions of the file apart, by its inode, size and time of change'),
  'Last-Modified': text('Time of the last change'),
};

/** `GET`, `HEAD` and `PUT` of files. */
export function fileOperations(written: JsonSchema): JsonSchema {
  const common = { tags: ['files'], 'x-roles': PERMISSIONS.read_file };
  const failures = { '4XX': FAILURE, '5XX': FAILURE };
  const wholeFile = { description: 'The file', headers: HEADERS };
  const answer = { headers: { ETag: HEADERS.ETag }, content: { 'application/json': { schema: written } } };
  return {
    get: {
      ...common,
      operationId: 'download_file',
      summary: 'Sends a file, or a range of it, of any size.',
      parameters: [...COMMON, ...DOWNLOAD_PARAMETERS],
      responses: {
        200: { ...wholeFile, content: BYTES },
        206: { description: 'The range', headers: HEADERS, content: BYTES },
        304: NOT_MODIFIED,
        ...failures,
      },
    },
    head: {
      ...common,
      operationId: 'describe_file',
      summary: 'Sends the size and the version of a file.',
      parameters: COMMON,
      responses: { 200: wholeFile, 304: NOT_MODIFIED, '4XX': { description: 'An error' } },
    },
    put: {
      ...common,
      operationId: 'upload_file',
      summary: 'Writes a file of any size. A reader sees the old content or the new, never a part of it.',
      parameters: [...COMMON, ...UPLOAD_PARAMETERS],
      requestBody: { required: true, content: BYTES },
      responses: {
        200: { description: 'The file was replaced, or appended to', ...answer },
        201: { description: 'The file was created', ...answer },
        ...failures,
      },
    },
  };
}

const NOT_MODIFIED = { description: 'The file is one that `If-None-Match` names' };

const DOWNLOAD_PARAMETERS = [
  header('Range', 'One range of bytes, such as `bytes=0-999`'),
  header('If-Range', 'An entity tag or a date: otherwise the whole file is sent'),
  header('Want-Repr-Digest', '`sha-256=1` for the SHA-256 of the whole file in the trailer `Repr-Digest`'),
];

const UPLOAD_PARAMETERS = [
  query('mode', '`overwrite` by default', { enum: ['create', 'overwrite', 'append'] }),
  query('permissions', 'In octal digits, such as `644`; by default those it has'),
  query('create_directories', 'Make the directories that are missing above it', { enum: ['true', 'false'] }),
  query('expected_sha256', 'Fails with 412 unless the file has this content now'),
  query('expected_mtime_ms', 'The same for the time of its last change'),
  header('Content-Range', 'Append these bytes, if the file ends where they begin: `bytes 0-999/5000`'),
  header('Content-Digest', 'SHA-256 that the body must have: `sha-256=:BASE64:`'),
  query('resume', 'Keeps what has come of an upload that breaks, under this key, beside the file', {
    pattern: '^[\\w-]{1,64}$',
  }),
  query('offset', 'Bytes that are there under the key; otherwise the answer is 412 with their number in `size`'),
];
