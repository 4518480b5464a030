import { z } from 'zod';
import { configurationSchema } from './schema.js';

/** A key of the configuration that holds a value. */
export interface Setting {
  /** Path of the key, such as `['adapter', 'prewarm', 'sessions']`. */
  readonly path: readonly string[];
  /** Whether it accepts text only: a text that looks like a number is still text. */
  readonly isText: boolean;
  /** Whether it accepts a list of texts. */
  readonly isList: boolean;
  /** Keys of its entries, for a list or a mapping of mappings. */
  readonly entryKeys: readonly string[];
  /** Description, with unit and default. */
  readonly description: string;
}

/** The part of a JSON Schema that describes the type of a key. */
interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly description?: string;
}

/** Lists the keys of the schema in its order. */
export function listSettings(): readonly Setting[] {
  return collect(z.toJSONSchema(configurationSchema, { io: 'input' }) as SchemaNode, []);
}

/**
 * True when the schema expects text at this path: a text setting, or an entry of a setting that accepts a list or
 * mapping (all of which contain texts).
 */
export function takesText(settings: readonly Setting[], path: readonly PropertyKey[]): boolean {
  const setting = settings.find((candidate) => candidate.path.every((step, index) => path[index] === step));
  return setting !== undefined && (setting.isText || path.length > setting.path.length);
}

/** True when the path refers to the whole configuration, a section, or a group within one. */
export function isSection(settings: readonly Setting[], path: readonly PropertyKey[]): boolean {
  return settings.some(
    (setting) => setting.path.length > path.length && path.every((step, index) => setting.path[index] === step),
  );
}

/** Lists the keys that are allowed in a section, or in an entry of a list. */
export function listKeys(settings: readonly Setting[], section: readonly PropertyKey[]): readonly string[] {
  const list = settings.find(
    ({ path }) => path.length + 1 === section.length && path.every((step, index) => section[index] === step),
  );
  if (list) return list.entryKeys;
  const below = settings.filter((setting) => section.every((step, index) => setting.path[index] === step));
  return [...new Set(below.flatMap((setting) => setting.path[section.length] ?? []))];
}

function collect(node: SchemaNode, path: readonly string[]): readonly Setting[] {
  if (node.properties) return Object.entries(node.properties).flatMap(([key, child]) => collect(child, [...path, key]));
  const types = node.anyOf ? node.anyOf.map((choice) => choice.type) : [node.type];
  const isText = types.every((type) => type === 'string');
  const { items, additionalProperties: values } = node;
  const entry = items ?? (typeof values === 'object' ? values : undefined);
  const entryKeys = Object.keys(entry?.properties ?? {});
  return [{ path, isText, isList: types.includes('array'), entryKeys, description: node.description ?? '' }];
}
