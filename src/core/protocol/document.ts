import { z } from 'zod';

import { PERMISSIONS } from './permissions.js';
import { ROLE_NAMES, ROLES } from '../access/roles.js';
import { SKIP_REASONS } from '../checkpoints/entry.js';
import { ERROR_CODES } from '../errors.js';
import { markdownTable } from '../markdown.js';
import { confirmationInfo, judgedCommand } from './confirmations.js';
import { requestExamples } from './examples.js';
import { type FieldRow, listFields } from './field-table.js';
import { PROTOCOL_VERSION } from './fields.js';
import { type RequestName, requests } from './requests.js';
import { checkpointInfo, commandResult, events, sessionInfo } from './results.js';
import { RULES } from './rules.js';

/** Schemas that several messages share; each is described once. */
const SHAPES: readonly { readonly title: string; readonly schema: z.ZodType; readonly text: string }[] = [
  {
    title: 'Command result',
    schema: commandResult,
    text:
      'The answer to `execute_command`, `wait_command` and `confirm_command`, and the payload of `command_finished`. With\n' +
      'the status `confirmation_required`, the fields from `confirmation_id` on are there too.',
  },
  {
    title: 'Judged command',
    schema: judgedCommand,
    text: 'What the policy makes of one simple command.',
  },
  {
    title: 'Open confirmation',
    schema: confirmationInfo,
    text: 'An entry of `list_confirmations`, and the payload of `confirmation_required`: everything that a decision needs.',
  },
  { title: 'Session', schema: sessionInfo, text: 'The answer to `get_session`, and an entry of `list_sessions`.' },
  {
    title: 'Checkpoint',
    schema: checkpointInfo,
    text: 'An entry of `list_checkpoints`. The answer to `checkpoint_workspace` has the same fields, and more.',
  },
];

/** Renders `docs/protocol.md` from the tables of requests, events and errors: Markdown, ending with a newline. */
export function renderProtocolDocument(): string {
  const sections = [
    `# The wire protocol, version ${PROTOCOL_VERSION}`,
    '<!-- Generated from src/core/protocol by `npm run docs`. Change it there. -->',
    RULES.trim(),
    markdownTable(
      ['reason', 'what it is'],
      Object.entries(SKIP_REASONS).map(([reason, meaning]) => [`\`${reason}\``, meaning]),
    ),
    '## Requests',
    renderIndex(),
    ...requestNames().map(renderRequest),
    '## Roles',
    renderRoles(),
    '## Shapes',
    ...SHAPES.map(
      ({ title, schema, text }) =>
        `### ${title}\n\n${text}\n\n${renderFields(schema, 'always there', listedShapes(schema))}`,
    ),
    '## Events',
    ...Object.entries(events).map(([name, { summary, schema }]) => {
      return `### \`${name}\`\n\n${summary}\n\n${renderPayload(schema)}`;
    }),
    '## Error codes',
    'Codes are never renamed, and never used for something else.',
    markdownTable(
      ['code', 'meaning'],
      Object.entries(ERROR_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
  ];
  return `${sections.join('\n\n')}\n`;
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
    return [`\`${name}\``, ...ROLE_NAMES.map((role) => (PERMISSIONS[name].includes(role) ? 'yes' : ''))];
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
    `Example:\n\n\`\`\`json\n${JSON.stringify(requestExamples[name])}\n\`\`\``,
  ].join('\n\n');
}

/** The fields of an answer or event; a link for one of the shared shapes. */
function renderPayload(schema: z.ZodType): string {
  const shape = SHAPES.find((candidate) => candidate.schema === schema);
  if (!shape) return renderFields(schema, 'always there', listedShapes(schema));
  return `A ${linkTo(shape.title)}.`;
}

function renderFields(schema: z.ZodType, certainty: string, listed: readonly ListedShape[] = []): string {
  const rows = listFields(schema).filter(({ name }) => !listed.some(({ prefix }) => name.startsWith(prefix)));
  if (rows.length === 0) return 'Nothing: `{}`.';
  return markdownTable(
    ['field', 'type', certainty, 'what it is'],
    rows.map((row) => renderRow(row, listed)),
  );
}

function renderRow({ name, type, isRequired, description }: FieldRow, listed: readonly ListedShape[]): string[] {
  const shape = listed.find(({ prefix }) => prefix === `${name}[].`);
  const text = shape ? `Each is a ${linkTo(shape.title)}` : description;
  return [`\`${name}\``, type, isRequired ? 'yes' : '', text];
}

/** A field that is a list of a shared shape, with the prefix of its field names. */
interface ListedShape {
  readonly prefix: string;
  readonly title: string;
}

function listedShapes(schema: z.ZodType): readonly ListedShape[] {
  const fields = 'shape' in schema ? Object.entries(schema.shape as Record<string, z.ZodType>) : [];
  return fields.flatMap(([name, field]) => {
    const list = field instanceof z.ZodOptional ? field.unwrap() : field;
    const shape = SHAPES.find((candidate) => list instanceof z.ZodArray && candidate.schema === list.element);
    return shape ? [{ prefix: `${name}[].`, title: shape.title }] : [];
  });
}

const linkTo = (title: string): string => `[${title.toLowerCase()}](#${title.toLowerCase().replaceAll(' ', '-')})`;
