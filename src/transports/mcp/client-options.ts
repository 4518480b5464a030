import type { IncomingMessage } from 'node:http';
import { isAbsolute } from 'node:path';

import type { Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import { isToolSet, TOOL_SET_NAMES, type ToolSet } from '../../core/tools/tool-sets.js';
import type { Access } from '../../services/access/access.js';
import { type Grant, originOf } from '../http/authentication.js';

/** Options that a client of the endpoint can choose. */
export interface HttpClientOptions {
  /**
   * `?tools=`
   * @default 'core'
   */
  readonly tools: ToolSet;
  /** `?cwd=`: directory in which commands start; undefined for the client's roots, then the workspace. */
  readonly cwd: string | undefined;
  /** Principal that decides when the person at the client is asked; undefined when the person is never asked. */
  readonly operator: Principal | undefined;
}

/** Header with the token of an operator who uses the client. */
const OPERATOR_HEADER = 'x-shell-adapter-operator-token';

/** Tool set of clients that choose none. */
const DEFAULT_TOOLS: ToolSet = 'core';

/**
 * Reads the client's options from the URL and the headers of its request.
 * @throws AdapterError INVALID_REQUEST for an unknown tool set or a relative directory; UNAUTHORIZED, FORBIDDEN for the
 *   operator's token
 */
export function clientOptions(request: IncomingMessage, access: Access, grant: Grant): HttpClientOptions {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const tools = searchParams.get('tools') ?? DEFAULT_TOOLS;
  const cwd = searchParams.get('cwd') ?? undefined;
  if (!isToolSet(tools)) {
    const shown = JSON.stringify(tools);
    throw new AdapterError('INVALID_REQUEST', `tools: ${shown} is unknown; there are ${TOOL_SET_NAMES.join(', ')}`);
  }
  if (cwd !== undefined && !isAbsolute(cwd)) {
    throw new AdapterError('INVALID_REQUEST', `cwd: ${JSON.stringify(cwd)} is not an absolute path`);
  }
  return { tools, cwd, operator: operatorOf(request, access, grant) };
}

function operatorOf({ headers, socket }: IncomingMessage, access: Access, grant: Grant): Principal | undefined {
  const token = headers[OPERATOR_HEADER];
  if (token === undefined) return undefined;
  const origin = { ...grant.origin, whyForeign: 'it names another principal' };
  const { principal } = access.admit({ token, origin, from: originOf(socket) });
  const refuse = (why: string): never => {
    throw new AdapterError('FORBIDDEN', `${OPERATOR_HEADER}: ${why}`);
  };
  if (principal.role !== 'operator' && principal.role !== 'admin') {
    refuse(`the token has the role ${principal.role}; operator or admin is needed`);
  }
  if (principal.id === grant.principal.id)
    refuse('it is the client’s own token, which cannot confirm what it has asked for');
  return principal;
}
