import { z } from 'zod';

import { described, restarting } from '../fields/facts.js';
import { flag, text } from '../fields/fields.js';

/** Where a collector of OpenTelemetry on this machine listens. */
const ENDPOINT = 'http://127.0.0.1:4318/v1/traces';

const urlError = 'must be an http or https URL, such as http://127.0.0.1:4318/v1/traces';

const isCollector = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const ratioError = 'must be a number from 0 to 1';

/** `traces`: spans of requests and commands for OpenTelemetry. */
export const tracesSection = restarting({
  enabled: flag(
    false,
    'Whether spans of requests and commands are sent to a collector. Needs packages of OpenTelemetry; see [Monitoring](../operate/monitoring.md#traces).',
  ),
  endpoint: described(z.string({ error: urlError }).refine(isCollector, { error: urlError }).default(ENDPOINT), {
    text: 'Where the collector takes OTLP over HTTP.',
    fallback: `\`${ENDPOINT}\``,
  }),
  sample_ratio: described(
    z.number({ error: ratioError }).min(0, { error: ratioError }).max(1, { error: ratioError }).default(1),
    {
      text: 'Part of the traces that begin in the daemon and are recorded. A trace of a client is recorded if the client records it.',
      fallback: '`1`',
    },
  ),
  service_name: described(text.default('shell-adapter'), {
    text: 'The name of the service in the spans.',
    fallback: '`shell-adapter`',
  }),
  include_command: flag(false, 'Whether the span of a command has its text, with secrets masked.'),
});
