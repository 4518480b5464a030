import { isAbsolute } from 'node:path';

import { z } from 'zod';

import { NOTIFICATION_EVENTS, NOTIFICATION_FORMATS } from '../../core/notifications/notification.js';
import { described } from '../fields/facts.js';
import { choice, count, duration, flag, oneOf, text } from '../fields/fields.js';
import { isLoopback } from './socketio.js';

/** Least length of a secret, in characters: a shorter one could be guessed from a signed body. */
const MIN_SECRET_CHARACTERS = 16;

const urlError = 'has to be an https URL, or an http URL of this machine (127.0.0.1, localhost), without a user name';

/** Without TLS, others on the way could read and change what is sent. */
function isReceiver(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[(.*)\]$/, '$1')));
}

const events = z
  .array(oneOf(NOTIFICATION_EVENTS), { error: `must be a list of ${NOTIFICATION_EVENTS.join(', ')}` })
  .min(1, { error: 'must name at least one event' });

// No message of a secret may begin with "must be": such messages quote the value.
const secretText = z
  .string({ error: 'has to be a text; write it in quotes' })
  .min(MIN_SECRET_CHARACTERS, { error: `has to have ${MIN_SECRET_CHARACTERS} characters or more` });

const webhook = z
  .strictObject(
    {
      url: described(z.string({ error: urlError }).refine(isReceiver, { error: urlError }), {
        text: 'Where notifications are sent: https, or http to this machine. Redirects are not followed.',
        fallback: 'none; it is required',
        isSecret: true,
      }),
      secret: described(secretText.optional(), {
        text: 'The key of the signature, best as `"${VARIABLE}"`; at least 16 characters.',
        fallback: 'none; then nothing is signed',
        isSecret: true,
      }),
      secret_file: described(text.refine(isAbsolute, { error: 'must be an absolute path' }).optional(), {
        text: 'A file with the key instead; its path is absolute, and blanks at its ends do not count.',
        fallback: 'none',
      }),
      events: described(events.default([...NOTIFICATION_EVENTS]), {
        text: `What it is told: ${NOTIFICATION_EVENTS.map((name) => `\`${name}\``).join(', ')}.`,
        fallback: 'all',
      }),
      format: choice(NOTIFICATION_FORMATS, 'json', '`json`, or `slack` for receivers that take what Slack takes.'),
      include_command: flag(false, 'Whether the text of a command is sent, with secrets masked; its class always is.'),
      timeout: duration('seconds', 5, 'How long the receiver may take for an answer.'),
      attempts: count({ unit: 'attempts', min: 1, max: 20 }, 5, 'Attempts for each notification, the first included.'),
    },
    { error: 'must be a mapping with a url' },
  )
  .superRefine(({ secret, secret_file: file }, context) => {
    if (secret === undefined || file === undefined) return;
    context.addIssue({ code: 'custom', path: ['secret_file'], message: 'goes without secret: give one of the two' });
  });

/** `notify`: webhooks that are told of what waits and what went wrong. */
export const notifySection = z.strictObject({
  webhooks: described(z.array(webhook, { error: 'must be a list of webhooks' }).default([]), {
    text: 'Receivers of notifications; see [Notifications](../operate/notifications.md).',
    fallback: 'none',
  }),
});
