import { z } from 'zod';

import { MIN_SECRET_CHARACTERS, patternsOf } from '../../core/secrets.js';
import { choice, count, flag, list, restarting } from '../fields.js';

export const authSection = z.strictObject({
  mode: choice(
    ['auto', 'token', 'none'],
    'auto',
    'Which clients need a token: `auto` (all but programs of the daemon’s own user on this machine), `token` (all) or `none`.',
    'restart',
  ),
  requests_per_second: count(
    { unit: 'requests', min: 1, max: 1_000_000 },
    500,
    'Average number of requests that each token may make in a second; twice as many may come at once.',
  ),
  max_sessions_per_token: count(
    { unit: 'sessions', min: 1, max: 10_000 },
    64,
    'Open sessions that each token may have, and running commands without a session.',
  ),
});

// No message here may begin with "must be": such messages quote the value, which is a secret.
const listError = 'has to be a list of texts';

const text = z.string({ error: 'has to be a text; write it in quotes' });

const TOO_SHORT = `has to have a line of ${MIN_SECRET_CHARACTERS} characters or more: a shorter text would be masked wherever it happens to stand`;

/** Whether a text is long enough to be masked. */
export const isMaskable = (secret: string): boolean => patternsOf([secret]).length > 0;

/** `secrets`: texts that are masked in all output and records. */
export const secretsSection = z.strictObject({
  values: list(
    text.refine(isMaskable, { error: TOO_SHORT }),
    listError,
    'Secrets themselves, best as `"${VARIABLE}"`.',
    { isSecret: true },
  ),
  environment: list(
    text.min(1, { error: 'has to be the name of a variable' }),
    listError,
    'Names of variables of the daemon whose values are secrets; variables that are not set are ignored.',
  ),
  files: list(
    text.min(1, { error: 'has to be a path' }),
    listError,
    'Files whose content is secret, each line of it.',
    { location: {} },
  ),
});

/** `http`: HTTP endpoints besides Socket.IO. */
export const httpSection = restarting({
  metrics: flag(true, 'Whether metrics are collected, and served at `/metrics` for Prometheus.'),
  openai: flag(true, 'Whether the tools of the section `llm` answer at `/v1/chat/completions`, as OpenAI does.'),
  rest: flag(
    true,
    'Whether the requests of the protocol are served at `/v1/requests`, and described at `/openapi.json` and `/asyncapi.json`.',
  ),
  mcp: flag(true, 'Whether the tools for models are served at `/mcp`, for clients of the Model Context Protocol.'),
  previews: flag(
    false,
    'Whether HTTP and WebSocket are passed on to ports on which sessions listen, at `/v1/sessions/ID/ports/PORT/`.',
  ),
  dashboard: flag(true, 'Whether the dashboard, a page for people, is served at `/`.'),
});
