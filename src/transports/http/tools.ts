import type { FastifyInstance } from 'fastify';

import { AdapterError } from '../../core/errors.js';
import { TOOL_FORMATS, type ToolFormat, toolDefinitions } from '../../core/tools/definitions.js';
import type { Access } from '../../services/access/access.js';
import { grantFor } from './credentials.js';

/**
 * `GET /v1/tools`: the adapter's tools for the `tools` of a model's request. `?format=openai` or `?format=anthropic` gives
 * `{ "tools": […] }`; without it the answer has both, by these names.
 */
export const toolRoutes =
  (access: Access) =>
  (routes: FastifyInstance): void => {
    routes.get<{ Querystring: { readonly format?: unknown } }>('/v1/tools', async ({ raw, query }) => {
      await grantFor(raw, access);
      const { format } = query;
      if (format === undefined) {
        return Object.fromEntries(TOOL_FORMATS.map((name) => [name, toolDefinitions(name)]));
      }
      if (isToolFormat(format)) return { tools: toolDefinitions(format) };
      const shown = JSON.stringify(format);
      throw new AdapterError('INVALID_REQUEST', `format: ${shown} is none; there are ${TOOL_FORMATS.join(' and ')}`);
    });
  };

const isToolFormat = (format: unknown): format is ToolFormat => TOOL_FORMATS.includes(format as ToolFormat);
