/** Events that webhooks can be told of. */
export const NOTIFICATION_EVENTS = ['confirmation_required', 'limit_exceeded', 'health', 'daemon_started'] as const;

export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** Formats of a body: the fields as JSON, or what Slack and compatible receivers accept. */
export const NOTIFICATION_FORMATS = ['json', 'slack'] as const;

/** Something that webhooks are told of. */
export interface Notification {
  readonly event: NotificationEvent;
  /** One sentence for people, without the text of a command. */
  readonly message: string;
  readonly sessionId?: string | null | undefined;
  readonly commandId?: string | undefined;
  readonly class?: string | undefined;
  /** Text of the command. Sent only to webhooks with `include_command`. */
  readonly command?: string | undefined;
  /** Further facts, without the text of a command. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

interface DeliveryFacts {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly hostname: string;
}

/** The choices of a webhook that determine its bodies. */
interface BodyStyle {
  readonly format: (typeof NOTIFICATION_FORMATS)[number];
  readonly includeCommand: boolean;
}

/** Longest command in a body, in characters. */
const MAX_COMMAND_CHARACTERS = 2000;

/** Renders the body of a delivery: JSON. */
export function renderBody(notification: Notification, facts: DeliveryFacts, style: BodyStyle): string {
  const { event, message, sessionId, commandId, class: commandClass, details = {} } = notification;
  const command = style.includeCommand ? notification.command?.slice(0, MAX_COMMAND_CHARACTERS) : undefined;
  if (style.format === 'slack') return JSON.stringify({ text: slackText(notification, facts, command) });
  return JSON.stringify({
    event,
    id: facts.id,
    time: facts.time,
    hostname: facts.hostname,
    message,
    session_id: sessionId ?? null,
    command_id: commandId ?? null,
    class: commandClass ?? null,
    ...(command !== undefined && { command }),
    details,
  });
}

function slackText({ event, message }: Notification, { hostname }: DeliveryFacts, command: string | undefined): string {
  const text = `*${event}* on ${escapeSlack(hostname)}: ${escapeSlack(message)}`;
  return command === undefined ? text : `${text}\n\`\`\`${escapeSlack(command).replaceAll('```', "'''")}\`\`\``;
}

/** The characters that Slack requires to be escaped: https://docs.slack.dev/messaging/formatting-message-text */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Pause after the first failed attempt, in milliseconds; it doubles with each further one. */
const FIRST_PAUSE_MS = 500;
/** Longest pause, also where the receiver asks for more, in milliseconds. */
const MAX_PAUSE_MS = 60_000;

const TOO_MANY_REQUESTS = 429;
const FIRST_SERVER_ERROR = 500;

/** Whether an answer with this HTTP status calls for another attempt. */
export const isWorthRetrying = (status: number): boolean =>
  status === TOO_MANY_REQUESTS || status >= FIRST_SERVER_ERROR;

/**
 * Pause before the next attempt, in milliseconds: exponential, with jitter, so that many senders do not come back at
 * the same moment.
 * @param attempt number of the failed attempt, from 1
 * @param random from 0 to 1
 * @param retryAfter the receiver's `Retry-After`; only a number of seconds counts
 */
export function pauseBeforeRetry(attempt: number, random: number, retryAfter?: string | null): number {
  const wished = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : 0;
  const exponential = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + random / 2);
  return Math.min(MAX_PAUSE_MS, Math.max(wished, exponential));
}
