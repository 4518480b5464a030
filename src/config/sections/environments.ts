import { z } from 'zod';

import { described } from '../fields/facts.js';
import { duration, optionalText, variables } from '../fields/fields.js';

const environment = z.strictObject(
  {
    init: optionalText(
      'none',
      'Shell text that is run in a session before it is handed over, such as `. .venv/bin/activate`.',
    ),
    env: described(variables('must be a mapping of variables to their values').default({}), {
      text: 'Variables of the session. What `open_session` gives goes first.',
      fallback: 'none',
    }),
    timeout: duration('seconds', 30, 'How long `init`, and the startup files before it, may take.'),
  },
  { error: 'must be a mapping with init, env or timeout' },
);

/** `environments`: named environments, which clients choose by `open_session { environment }`. */
export const environmentsSection = described(
  z
    .record(
      z.string().regex(/^[\w.-]{1,64}$/, { error: 'is no name: letters, digits, `.`, `_` and `-`, at most 64' }),
      environment,
      { error: 'must be a mapping of names to environments' },
    )
    .default({}),
  {
    text: 'Environments by name. A client opens a session in one of them, and its `init` needs no confirmation.',
    fallback: 'none',
    reload: 'new_sessions',
  },
);
