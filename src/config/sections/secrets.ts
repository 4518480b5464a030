import { z } from 'zod';
import { MIN_SECRET_CHARACTERS, patternsOf } from '../../core/secrets/secret-mask.js';

// No message here may begin with "must be": such messages quote the value, which is a secret.
const listError = 'has to be a list of texts';

const text = z.string({ error: 'has to be a text; write it in quotes' });

const TOO_SHORT = `has to have a line of ${MIN_SECRET_CHARACTERS} characters or more: a shorter text would be masked wherever it happens to stand`;

/** Whether a text is long enough to be masked. */
export const isMaskable = (secret: string): boolean => patternsOf([secret]).length > 0;

/** `secrets`: texts that are masked in all output and records. */
export const secretsSection = z.strictObject({
  values: z
    .array(text.refine(isMaskable, { error: TOO_SHORT }), { error: listError })
    .default([])
    .describe('Secrets themselves, best as "${VARIABLE}". Default: none.'),
  environment: z
    .array(text.min(1, { error: 'has to be the name of a variable' }), { error: listError })
    .default([])
    .describe(
      'Names of variables of the daemon whose values are secrets; those that are not set count for nothing. Default: none.',
    ),
  files: z
    .array(text.min(1, { error: 'has to be a path' }), { error: listError })
    .default([])
    .describe('Files whose content is a secret, each line of it. Default: none.'),
});
