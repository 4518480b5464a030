import { z } from 'zod';

import { markdownTable } from '../markdown.js';
import { confirmationInfo, judgedCommand } from '../protocol/confirmations.js';
import { choicesOf, isBound, jsonSchemaOf, type SchemaNode } from '../protocol/json-schema.js';
import { checkpointInfo, commandResult, sessionInfo } from '../protocol/results.js';

interface FieldRow {
  /** Dotted path, with `[]` for the entries of a list: `sessions[].session_id`. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** The fields of a message; nested fields follow their parent. */
function listFields(schema: z.ZodType): readonly FieldRow[] {
  return rowsOf(jsonSchemaOf(schema), '');
}

function rowsOf(node: SchemaNode, prefix: string): FieldRow[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, field]) => {
    const name = `${prefix}${key}`;
    const isRequired = node.required?.includes(key) ?? false;
    // An optional field may also be null, which counts as absent; the document states this once for all fields.
    const choices = choicesOf(field).filter(({ type }) => isRequired || type !== 'null');
    const description = field.description ?? choices.find((choice) => choice.description)?.description ?? '';
    const row = { name, type: choices.map(typeOf).join(' or '), isRequired, description };
    return [row, ...choices.flatMap((choice) => nestedRows(choice, name))];
  });
}

function nestedRows(node: SchemaNode, name: string): FieldRow[] {
  return node.items ? rowsOf(node.items, `${name}[].`) : rowsOf(node, `${name}.`);
}

function typeOf(node: SchemaNode): string {
  if (node.enum) return node.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const { type } = node;
  if (type === undefined) return 'bytes';
  if (type === 'array')
    return `list of ${choicesOf(node.items ?? {})
      .map(typeOf)
      .join(' or ')}`;
  if (type === 'object') return typeof node.additionalProperties === 'object' ? 'map of name to string' : 'object';
  if (type === 'string') return `string${describeText(node)}`;
  return `${String(type)}${describeRange(node)}`;
}

function describeText({ format, pattern, minLength, maxLength }: SchemaNode): string {
  if (format === 'date-time') return ', ISO 8601 in UTC';
  if (pattern !== undefined) return `, \`${pattern}\``;
  if (maxLength !== undefined) return `, ${minLength ?? 0} to ${maxLength} characters`;
  return minLength === 1 ? ', not empty' : '';
}

function describeRange({ minimum, maximum }: SchemaNode): string {
  if (isBound(minimum) && isBound(maximum)) return `, ${minimum} to ${maximum}`;
  if (isBound(minimum)) return `, at least ${minimum}`;
  return isBound(maximum) ? `, at most ${maximum}` : '';
}

/** Schemas that several messages share; each is described once. */
const SHAPES: readonly { readonly title: string; readonly schema: z.ZodType; readonly text: string }[] = [
  {
    title: 'Command result',
    schema: commandResult,
    text:
      'The answer to requests that run, await or confirm a command, and the payload of `command_finished`. With\n' +
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
  { title: 'Session', schema: sessionInfo, text: 'The answer to `get_session`, and an entry of the list of sessions.' },
  {
    title: 'Checkpoint',
    schema: checkpointInfo,
    text: 'An entry of `list_checkpoints`. The answer to the request that saves one has the same fields, and more.',
  },
];

/** The descriptions of the shared shapes, each below a heading of the third level. */
export const renderShapes = (): readonly string[] =>
  SHAPES.map(
    ({ title, schema, text }) =>
      `### ${title}\n\n${text}\n\n${renderFields(schema, 'always there', listedShapes(schema))}`,
  );

/**
 * The fields of an answer or event; a link for one of the shared shapes.
 * @param page the page with the shapes, relative to the page that links to them
 * @default the same page
 */
export function renderPayload(schema: z.ZodType, page = ''): string {
  const shape = SHAPES.find((candidate) => candidate.schema === schema);
  if (!shape) return renderFields(schema, 'always there', listedShapes(schema, page));
  return `${/^[aeiou]/i.test(shape.title) ? 'An' : 'A'} ${linkTo(shape.title, page)}.`;
}

/**
 * A table of the fields of a message; nested fields follow their parent.
 * @param certainty the head of the column that says whether a field is required
 * @param listed fields that are lists of a shared shape: they are linked, not repeated
 */
export function renderFields(schema: z.ZodType, certainty: string, listed: readonly ListedShape[] = []): string {
  const rows = listFields(schema).filter(({ name }) => !listed.some(({ prefix }) => name.startsWith(prefix)));
  if (rows.length === 0) return 'Nothing: `{}`.';
  return markdownTable(
    ['field', 'type', certainty, 'what it is'],
    rows.map((row) => renderRow(row, listed)),
  );
}

function renderRow({ name, type, isRequired, description }: FieldRow, listed: readonly ListedShape[]): string[] {
  const shape = listed.find(({ prefix }) => prefix === `${name}[].`);
  const text = shape ? `Each is a ${shape.link}` : description;
  return [`\`${name}\``, type, isRequired ? 'yes' : '', text];
}

/** A field that is a list of a shared shape, with the prefix of its field names. */
interface ListedShape {
  readonly prefix: string;
  /** Its title, linked to its description. */
  readonly link: string;
}

function listedShapes(schema: z.ZodType, page = ''): readonly ListedShape[] {
  const fields = 'shape' in schema ? Object.entries(schema.shape as Record<string, z.ZodType>) : [];
  return fields.flatMap(([name, field]) => {
    const list = field instanceof z.ZodOptional ? field.unwrap() : field;
    const shape = SHAPES.find((candidate) => list instanceof z.ZodArray && candidate.schema === list.element);
    return shape ? [{ prefix: `${name}[].`, link: linkTo(shape.title, page) }] : [];
  });
}

const linkTo = (title: string, page: string): string =>
  `[${title.toLowerCase()}](${page}#${title.toLowerCase().replaceAll(' ', '-')})`;
