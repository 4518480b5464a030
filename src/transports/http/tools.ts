import type { FastifyInstance } from 'fastify';

import { AdapterError } from '../../core/errors.js';
import { isToolFormat, isToolSet, TOOL_FORMATS, TOOL_SET_NAMES } from '../../core/tools/tool-sets.js';
import type { RequestAuthentication } from './authentication.js';

/**
 * `GET /v1/tools`: the adapter's tools, for the `tools` field of a model request. `?format=openai` or
 * `?format=anthropic` returns `{ "tools": […] }`; without `format` the answer contains both, under these names.
 * `?tools=` selects a set, see `TOOL_SETS`; the default is `all`.
 */
export const toolRoutes =
  ({ authenticate: onRequest }: RequestAuthentication) =>
  (routes: FastifyInstance): void => {
    routes.get<{ Querystring: { readonly format?: unknown; readonly tools?: unknown } }>(
      '/v1/tools',
      { onRequest },
      async ({ query }) => {
        const { format, tools = 'all' } = query;
        if (!isToolSet(tools)) throw unknown('tools', tools, TOOL_SET_NAMES);
        // Few daemons are asked for them.
        const { toolDefinitions } = await import('../../core/tools/definitions.js');
        if (format === undefined) {
          return Object.fromEntries(TOOL_FORMATS.map((name) => [name, toolDefinitions(name, tools)]));
        }
        if (isToolFormat(format)) return { tools: toolDefinitions(format, tools) };
        throw unknown('format', format, TOOL_FORMATS);
      },
    );
  };

const unknown = (field: string, value: unknown, known: readonly string[]): AdapterError =>
  new AdapterError('INVALID_REQUEST', `${field}: ${JSON.stringify(value)} is unknown; there are ${known.join(', ')}`);
