import type { z } from 'zod';

/** How a request is defined. */
interface RequestMaker {
  readonly summary: string;
  readonly input: () => z.ZodType;
  readonly output: () => z.ZodType;
}

/** Requests with their schemas. */
type Requests<T> = {
  readonly [N in keyof T]: T[N] extends { input: () => infer I; output: () => infer O }
    ? { readonly summary: string; readonly input: I; readonly output: O }
    : never;
};

/**
 * Defines requests. Each schema is made when it is first used: making all of them takes 20 ms of a processor, and a daemon
 * or a command of the command line uses few.
 */
export function defineRequests<T extends Readonly<Record<string, RequestMaker>>>(makers: T): Requests<T> {
  const made = Object.entries(makers).map(([name, maker]) => [name, withSchemas(maker)]);
  return Object.fromEntries(made) as Requests<T>;
}

function withSchemas({ summary, input: makeInput, output: makeOutput }: RequestMaker) {
  let input: z.ZodType | undefined;
  let output: z.ZodType | undefined;
  return {
    summary,
    get input() {
      return (input ??= makeInput());
    },
    get output() {
      return (output ??= makeOutput());
    },
  };
}
