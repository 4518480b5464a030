import { SKIP_REASONS } from '../checkpoints.js';
import { ERROR_CODES } from '../errors.js';
import { markdownTable } from '../markdown.js';
import { ROLE_NAMES, ROLES } from '../principal.js';
import { PROTOCOL_VERSION } from '../protocol/fields.js';
import { renderFields, renderPayload, renderShapes } from './message-tables.js';
import { rolesFor } from '../protocol/permissions.js';
import { type RequestName, requests } from '../protocol/requests.js';
import { events } from '../protocol/results.js';
import { INTRODUCTION, RULES } from './protocol-rules.js';

/** Renders `docs/reference/protocol.md` from the tables of requests, events and errors: Markdown, ending with a newline. */
export function renderProtocolDocument(): string {
  const rules = RULES.trim();
  const sections = [
    `# Wire protocol, version ${PROTOCOL_VERSION}`,
    INTRODUCTION.trim(),
    '<!-- Generated from src/core/protocol by `npm run docs`. Change it there. -->',
    renderContents(rules),
    '## Requests',
    renderIndex(),
    ...requestNames().map(renderRequest),
    '## Events',
    ...Object.entries(events).map(([name, { summary, schema }]) => {
      return `### \`${name}\`\n\n${summary}\n\n${renderPayload(schema)}`;
    }),
    '## Shapes',
    ...renderShapes(),
    '## Roles',
    renderRoles(),
    '## Error codes',
    'Codes are never renamed, and never used for something else. [Error codes](errors.md) says what to do after each.',
    markdownTable(
      ['code', 'meaning'],
      Object.entries(ERROR_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
    rules,
    markdownTable(
      ['reason', 'meaning'],
      Object.entries(SKIP_REASONS).map(([reason, meaning]) => [`\`${reason}\``, meaning]),
    ),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Links to the tables, and to the rules in the order in which a new reader needs them. */
function renderContents(rules: string): string {
  const titles = [...rules.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title);
  const link = (title: string) => `[${title}](#${title.toLowerCase().replaceAll(' ', '-')})`;
  return [
    `Tables: ${['Requests', 'Events', 'Shapes', 'Roles', 'Error codes'].map(link).join(', ')}.`,
    `Rules: ${titles.map(link).join(', ')}.`,
  ].join('\n\n');
}

const requestNames = () => Object.keys(requests) as RequestName[];

function renderIndex(): string {
  const rows = requestNames().map((name) => [`[\`${name}\`](#${name})`, requests[name].summary]);
  return markdownTable(['request', 'what it does'], rows);
}

/** Describes the roles and the requests that each of them may make. */
function renderRoles(): string {
  const meanings = Object.entries(ROLES).map(([role, meaning]) => [`\`${role}\``, meaning]);
  const rows = requestNames().map((name) => {
    return [`\`${name}\``, ...ROLE_NAMES.map((role) => (rolesFor(name).includes(role) ? 'yes' : ''))];
  });
  return `${markdownTable(['role', 'what it may do'], meanings)}\n\n${markdownTable(['request', ...ROLE_NAMES], rows)}`;
}

function renderRequest(name: RequestName): string {
  const { summary, input, output } = requests[name];
  return [
    `### \`${name}\``,
    summary,
    `Takes:\n\n${renderFields(input, 'required')}`,
    `Gives:\n\n${renderPayload(output)}`,
    `Example:\n\n\`\`\`json\n${JSON.stringify(requests[name].example)}\n\`\`\``,
  ].join('\n\n');
}
