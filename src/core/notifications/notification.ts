/** Events that webhooks can be told of. */
export const NOTIFICATION_EVENTS = ['confirmation_required', 'limit_exceeded', 'health', 'daemon_started'] as const;

/** Name of an event. */
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
  /** Class of the command by the policy. */
  readonly class?: string | undefined;
  /** Text of the command. Sent only to webhooks with `include_command`. */
  readonly command?: string | undefined;
  /** Further facts, without the text of a command. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** Receives notifications. Returns at once and never throws. */
export interface Notifier {
  notify(notification: Notification): void;
}

/** Facts about one delivery. */
export interface DeliveryFacts {
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
