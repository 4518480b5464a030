import type { z } from 'zod';

import { type RequestInput, type RequestName, requests } from '../protocol/requests.js';

/** What a tool does to the world, for those who decide whether a model may call it; the terms are those of MCP. */
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
  /** A few words for people. */
  readonly title: string;
  /** What the model is told about it. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly hints: ToolHints;
  /** The request that it makes. */
  readonly request: RequestName;
  /** Fields of the request that the tool calls otherwise, with the tool's names. */
  readonly renamed: Readonly<Record<string, string>>;
  /** Makes the request's payload from the parsed arguments. */
  toPayload(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/** A tool that differs from its request. */
interface ToolShape<N extends RequestName, S extends z.ZodObject> {
  readonly request: N;
  readonly name?: string;
  readonly title: string;
  readonly description: string;
  readonly input: S;
  readonly hints?: Partial<ToolHints>;
  readonly renamed?: Readonly<Record<string, string>>;
  readonly toPayload: (args: z.output<S>) => RequestInput<N>;
}

const NO_HINTS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};

/** Hints of what looks and changes nothing. */
export const LOOKS: Partial<ToolHints> = { readOnlyHint: true, idempotentHint: true };
/** Hints of what runs whatever it is told to. */
export const RUNS: Partial<ToolHints> = { destructiveHint: true, openWorldHint: true };

/** A tool whose arguments are not those of its request. */
export function defineTool<N extends RequestName, S extends z.ZodObject>(shape: ToolShape<N, S>): Tool {
  const { request, name = request, hints, renamed = {}, toPayload } = shape;
  return {
    ...shape,
    name,
    renamed,
    hints: { ...NO_HINTS, ...hints },
    // Its arguments were parsed by the schema that it stands beside.
    toPayload: (args) => toPayload(args as z.output<S>),
  };
}

/** A tool that takes what its request takes. */
export const toolOf = <N extends RequestName>(
  request: N,
  { title, description, hints }: Pick<ToolShape<N, z.ZodObject>, 'title' | 'description' | 'hints'>,
): Tool =>
  defineTool({
    request,
    title,
    description,
    input: requests[request].input as z.ZodObject,
    ...(hints && { hints }),
    toPayload: (args) => args as RequestInput<N>,
  });
