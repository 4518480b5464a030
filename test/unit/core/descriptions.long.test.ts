import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';

import { asyncApiDocument } from '../../../src/core/descriptions/async-api.js';
import { openApiDocument } from '../../../src/core/descriptions/open-api.js';
import { requests } from '../../../src/core/protocol/requests.js';
import { events } from '../../../src/core/protocol/results.js';

/** All texts of references in a document. */
const referencesIn = (node: unknown): string[] =>
  typeof node !== 'object' || node === null
    ? []
    : Object.entries(node).flatMap(([key, value]) =>
        key === '$ref' && typeof value === 'string' ? [value] : referencesIn(value),
      );

const isThere = (document: unknown, reference: string): boolean =>
  reference
    .slice(2)
    .split('/')
    .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document) !== undefined;

const dangling = (document: unknown) => referencesIn(document).filter((reference) => !isThere(document, reference));

describe('the description as OpenAPI', () => {
  const document = openApiDocument('1.2.3');

  it('is valid', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(dangling(document)).toEqual([]);
  });

  it('has every request', () => {
    expect(Object.keys(document['paths'] as object)).toEqual([
      ...Object.keys(requests).map((name) => `/v1/requests/${name}`),
      '/v1/files/{path}',
    ]);
  });

  it('has a tag for each request, and each tag is described', () => {
    const { paths, tags } = document as { paths: Record<string, Record<string, Operation>>; tags: { name: string }[] };
    const used = Object.values(paths).flatMap((path) => Object.values(path).flatMap((operation) => operation.tags));
    expect(new Set(used)).toEqual(new Set(tags.map(({ name }) => name)));
  });

  it('has examples that its schemas take', () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'api', components: document['components'] });
    for (const { post } of Object.values(document['paths'] as Record<string, { post?: Operation }>)) {
      if (!post) continue;
      const { schema, example } = post.requestBody.content['application/json'];
      const validate = ajv.compile({ $ref: `api${schema.$ref}` });
      validate(example);
      expect([post.operationId, validate.errors]).toEqual([post.operationId, null]);
    }
  });
});

interface Operation {
  readonly tags: readonly string[];
  readonly operationId: string;
  readonly requestBody: {
    readonly content: { readonly 'application/json': { schema: { $ref: string }; example: unknown } };
  };
}

describe('the description as AsyncAPI', () => {
  const document = asyncApiDocument('1.2.3', { host: 'localhost:8087', isEncrypted: false });

  it('is valid', () => {
    const path = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    const ajv = new Ajv({ strict: false });
    addFormats.default(ajv);
    const validate = ajv.compile(JSON.parse(readFileSync(path, 'utf8')) as object);
    validate(document);
    expect(validate.errors).toBeNull();
    expect(dangling(document)).toEqual([]);
  });

  it('has every request, answer and event', () => {
    const { messages } = document['components'] as { messages: object };
    const names = Object.keys(requests);
    expect(Object.keys(messages)).toEqual([...names, ...names.map((name) => `${name}_result`), ...Object.keys(events)]);
  });
});
