import { ERROR_CATALOGUE } from '../error-catalogue/catalogue.js';
import { requestExamples } from '../protocol/examples.js';
import { PERMISSIONS } from '../protocol/permissions.js';
import { type RequestName, requests } from '../protocol/requests.js';
import { FILE_PARAMETERS, FILE_PATH, fileOperations } from './open-api-files.js';
import { tagOf, TAGS } from './open-api-tags.js';
import { type JsonSchema, type ProtocolSchemas, protocolSchemas } from './schemas.js';

const DESCRIPTION = `Every request of the wire protocol: persistent shell sessions, commands, confirmations, checkpoints, LLM calls.

A field that may be absent may also be null. Bytes are \`{ "base64": "…" }\`. With \`Accept: text/event-stream\` the answer is a stream:
the events of the protocol, as \`/asyncapi.json\` describes them, and \`NAME_result\` with the answer.`;

/** Bytes in JSON. */
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
    'x-roles': PERMISSIONS[name],
    parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }],
    requestBody: {
      required: Object.keys(requestExamples[name]).length > 0,
      content: json(inputOf(name), { example: requestExamples[name] }),
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
