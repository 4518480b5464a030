import type { z } from 'zod';

import { type RequestInput, type RequestName, requests } from '../protocol/requests.js';
import { argumentSchema, type ObjectSchema } from './schema.js';

/** What a tool does to the world, for clients that decide whether a model may call it; the terms are those of MCP. */
export interface ToolHints {
  /** It changes nothing. */
  readonly readOnlyHint: boolean;
  /** It may destroy something. */
  readonly destructiveHint: boolean;
  /** Calling it twice does no more than calling it once. */
  readonly idempotentHint: boolean;
  /** It may reach beyond this machine. */
  readonly openWorldHint: boolean;
}

/** A request of the protocol, as a model calls it. */
export interface Tool {
  readonly name: string;
  /** Earlier names: a call by one of them is accepted, but no list shows them. */
  readonly formerNames: readonly string[];
  /** A few words for people. */
  readonly title: string;
  /**
   * What the model is told about it.
   * @param start where commands start, as words for the model: `the workspace`, or a path
   */
  describe(start: string): string;
  readonly input: z.ZodObject;
  /** The same as a model sees it. */
  readonly schema: ObjectSchema;
  readonly hints: ToolHints;
  /** The request that it makes. */
  readonly request: RequestName;
  /** Whether clients that load tools on demand should load this one with the first request. */
  readonly isMain: boolean;
  /** Makes the request's payload from the parsed arguments. */
  toPayload(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/** A tool that differs from its request. */
interface ToolShape<N extends RequestName, S extends z.ZodObject> {
  readonly request: N;
  /** @default the name of the request */
  readonly name?: string;
  readonly formerNames?: readonly string[];
  readonly title: string;
  readonly description: string | ((start: string) => string);
  readonly input: S;
  readonly hints?: Partial<ToolHints>;
  readonly isMain?: boolean;
  readonly toPayload: (args: z.output<S>) => RequestInput<N>;
}

const NO_HINTS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};

/** Hints of a tool that only reads. */
export const LOOKS: Partial<ToolHints> = { readOnlyHint: true, idempotentHint: true };
/** Hints of a tool that runs arbitrary commands. */
export const RUNS: Partial<ToolHints> = { destructiveHint: true, openWorldHint: true };

/** A tool whose arguments are not those of its request. */
export function defineTool<N extends RequestName, S extends z.ZodObject>(shape: ToolShape<N, S>): Tool {
  const { request, title, input, name = request, formerNames = [], hints, isMain = false, description } = shape;
  let schema: ObjectSchema | undefined;
  return {
    request,
    title,
    input,
    name,
    formerNames,
    isMain,
    get schema() {
      return (schema ??= argumentSchema(input));
    },
    hints: { ...NO_HINTS, ...hints },
    describe: (start) => (typeof description === 'string' ? description : description(start)),
    // Its arguments were parsed by the schema beside it.
    toPayload: (args) => shape.toPayload(args as z.output<S>),
  };
}

/** A tool that takes what its request takes. */
export const toolOf = <N extends RequestName>(
  request: N,
  shape: Pick<ToolShape<N, z.ZodObject>, 'title' | 'description' | 'hints'>,
): Tool =>
  defineTool({
    ...shape,
    request,
    input: requests[request].input as z.ZodObject,
    toPayload: (args) => args as RequestInput<N>,
  });
