import { z } from 'zod';

/** A note about what has happened with a command, or about the state of its session. */
export const warning = z.object({
  code: z.string().describe('Stable name of the warning, see [Warnings](warnings.md)'),
  message: z.string().describe('What happened and what to do'),
});
