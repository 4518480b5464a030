import { ERROR_CATALOGUE } from '../error-catalogue.js';
import { rolesFor } from '../protocol/permissions.js';
import { type RequestName, requests } from '../protocol/requests.js';
import { auditRequests } from '../protocol/requests/audit.js';
import { checkpointRequests } from '../protocol/requests/checkpoints.js';
import { commandRequests } from '../protocol/requests/commands.js';
import { confirmationRequests } from '../protocol/requests/confirmations.js';
import { fileSearchRequests } from '../protocol/requests/file-search.js';
import { fileRequests } from '../protocol/requests/files.js';
import { llmRequests } from '../protocol/requests/llm.js';
import { recordingRequests } from '../protocol/requests/recordings.js';
import { sessionRequests } from '../protocol/requests/sessions.js';
import { terminalRequests } from '../protocol/requests/terminal.js';
import { tokenRequests } from '../protocol/requests/tokens.js';
import { waitingRequests } from '../protocol/requests/waiting.js';
import { watchingRequests } from '../protocol/requests/watching.js';
import { type JsonSchema, type ProtocolSchemas, protocolSchemas } from './schemas.js';

const FILE_PATH = '/v1/files/{path}';

const text = (description: string, more: object = {}) => ({ description, schema: { type: 'string', ...more } });
const header = (name: string, description: string) => ({ name, in: 'header', ...text(description) });
const query = (name: string, description: string, more?: object) => ({ name, in: 'query', ...text(description, more) });

/** Parameters of `GET`, `HEAD` and `PUT`. */
const FILE_PARAMETERS = {
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
const FILE_BYTES = { 'application/octet-stream': {} };
const HEADERS = {
  ETag: text('Tells the versions of the file apart, by its inode, size and time of change'),
  'Last-Modified': text('Time of the last change'),
};

/** `GET`, `HEAD` and `PUT` of files. */
function fileOperations(written: JsonSchema): JsonSchema {
  const common = { tags: ['files'], 'x-roles': rolesFor('read_file') };
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
        200: { ...wholeFile, content: FILE_BYTES },
        206: { description: 'The range', headers: HEADERS, content: FILE_BYTES },
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
      requestBody: { required: true, content: FILE_BYTES },
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

interface Tag {
  readonly name: string;
  readonly description: string;
  readonly requests: readonly object[];
}

/** Groups of requests; what is in none of the others is in the last. */
const TAGS: readonly Tag[] = [
  { name: 'sessions', description: 'Persistent shells', requests: [sessionRequests] },
  {
    name: 'commands',
    description: 'Commands, their output and their input',
    requests: [commandRequests, terminalRequests],
  },
  {
    name: 'files',
    description: 'Files as commands see them',
    requests: [fileRequests, fileSearchRequests, watchingRequests],
  },
  { name: 'waiting', description: 'Waiting for ports, files and output', requests: [waitingRequests] },
  { name: 'confirmations', description: 'What has to be confirmed', requests: [confirmationRequests] },
  { name: 'checkpoints', description: 'Saved states of the workspace', requests: [checkpointRequests] },
  { name: 'recordings', description: 'Recorded terminals', requests: [recordingRequests] },
  { name: 'llm', description: 'Calls of language models', requests: [llmRequests] },
  { name: 'access', description: 'Tokens, and the audit log', requests: [tokenRequests, auditRequests] },
  { name: 'daemon', description: 'The daemon, its machine, and what a client is told of them', requests: [] },
];

const tagOf = (name: RequestName): string =>
  TAGS.find(({ requests }) => requests.some((group) => Object.hasOwn(group, name)))?.name ?? 'daemon';

const DESCRIPTION = `Every request of the wire protocol: persistent shell sessions, commands, confirmations, checkpoints, LLM calls.

A field that may be absent may also be null. Bytes are \`{ "base64": "…" }\`. With \`Accept: text/event-stream\` the answer is a stream:
the events of the protocol, as \`/asyncapi.json\` describes them, and \`NAME_result\` with the answer.`;

const BYTES: JsonSchema = {
  description: 'Bytes',
  type: 'object',
  properties: { base64: { type: 'string', contentEncoding: 'base64' } },
  required: ['base64'],
  additionalProperties: false,
};

const EVENT_STREAM: JsonSchema = {
  type: 'string',
  description: 'Server-sent events: those of the protocol, and `NAME_result` with the answer',
};

const json = (schema: JsonSchema, more: object = {}) => ({ 'application/json': { schema, ...more } });

/** Describes the requests over HTTP, as OpenAPI 3.1. */
export function openApiDocument(version: string): JsonSchema {
  const { schemas, inputOf, outputOf } = protocolSchemas({ target: 'draft-2020-12', bytes: BYTES });
  const names = Object.keys(requests) as RequestName[];
  return {
    openapi: '3.1.0',
    info: { title: 'shell-adapter', version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    // A program of the daemon's own user needs no token.
    security: [{ token: [] }, {}],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths: {
      ...Object.fromEntries(
        names.map((name) => [`/v1/requests/${name}`, { post: operationOf(name, { inputOf, outputOf }) }]),
      ),
      [FILE_PATH]: fileOperations(outputOf('write_file')),
    },
    components: {
      schemas: { ...schemas, ...FAILURE_SCHEMAS },
      responses: { Failure: { description: 'An error', content: json({ $ref: '#/components/schemas/Failure' }) } },
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY, ...FILE_PARAMETERS },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of `shell-adapter token create`' },
      },
    },
  };
}

function operationOf(name: RequestName, { inputOf, outputOf }: Pick<ProtocolSchemas, 'inputOf' | 'outputOf'>) {
  return {
    operationId: name,
    tags: [tagOf(name)],
    summary: requests[name].summary,
    'x-roles': rolesFor(name),
    parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }],
    requestBody: {
      required: Object.keys(requests[name].example).length > 0,
      content: json(inputOf(name), { example: requests[name].example }),
    },
    responses: {
      200: {
        description: 'The answer',
        content: { ...json(outputOf(name)), 'text/event-stream': { schema: EVENT_STREAM } },
      },
      '4XX': { $ref: '#/components/responses/Failure' },
      '5XX': { $ref: '#/components/responses/Failure' },
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A repeated request with the same key gets the answer of the first one, for an hour; it never runs twice',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** The schemas of errors, for all kinds of descriptions. */
export const FAILURE_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ErrorCode: {
    type: 'string',
    enum: Object.keys(ERROR_CATALOGUE),
    description: Object.entries(ERROR_CATALOGUE)
      .map(([code, { status, meaning }]) => `- \`${code}\` (${status}): ${meaning}`)
      .join('\n'),
  },
  Failure: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { $ref: '#/components/schemas/ErrorCode' },
          message: { type: 'string', description: 'What was wrong, and what would be right' },
          details: { type: 'object', description: 'Facts, by the code' },
        },
        required: ['code', 'message'],
      },
    },
    required: ['error'],
  },
};
