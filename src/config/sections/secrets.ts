import { z } from 'zod';
import { MIN_SECRET_CHARACTERS, patternsOf } from '../../core/secrets/secret-mask.js';
import { described } from '../fields/facts.js';

// No message here may begin with "must be": such messages quote the value, which is a secret.
const listError = 'has to be a list of texts';

const text = z.string({ error: 'has to be a text; write it in quotes' });

const TOO_SHORT = `has to have a line of ${MIN_SECRET_CHARACTERS} characters or more: a shorter text would be masked wherever it happens to stand`;

/** Whether a text is long enough to be masked. */
export const isMaskable = (secret: string): boolean => patternsOf([secret]).length > 0;

/** `secrets`: texts that are masked in all output and records. */
export const secretsSection = z.strictObject({
  values: described(z.array(text.refine(isMaskable, { error: TOO_SHORT }), { error: listError }).default([]), {
    text: 'Secrets themselves, best as `"${VARIABLE}"`.',
    fallback: 'none',
    isSecret: true,
  }),
  environment: described(
    z.array(text.min(1, { error: 'has to be the name of a variable' }), { error: listError }).default([]),
    {
      text: 'Names of variables of the daemon whose values are secrets; variables that are not set are ignored.',
      fallback: 'none',
    },
  ),
  files: described(z.array(text.min(1, { error: 'has to be a path' }), { error: listError }).default([]), {
    text: 'Files whose content is secret, each line of it.',
    fallback: 'none',
    location: {},
  }),
});
