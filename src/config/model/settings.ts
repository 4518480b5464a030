import { z } from 'zod';
import { configurationSchema } from './schema.js';

/** One key of the configuration that holds a value. */
export interface Setting {
  /** `['adapter', 'prewarm', 'sessions']` */
  readonly path: readonly string[];
  /** What it takes is text and nothing else: what looks like a number is still text. */
  readonly isText: boolean;
  /** It takes several texts. */
  readonly isList: boolean;
  /** Keys of its entries, when it takes a list or a mapping of mappings. */
  readonly entryKeys: readonly string[];
  /** What it does, with unit and default. */
  readonly description: string;
}

/** The part of a JSON Schema that tells what a key takes. */
interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly description?: string;
}

/** Every key that the schema knows, in its order. */
export function listSettings(): readonly Setting[] {
  return collect(z.toJSONSchema(configurationSchema, { io: 'input' }) as SchemaNode, []);
}

/**
 * True when the value at this path is text by the schema: a text setting, or an entry of one that takes a list or mapping
 * (all of which hold texts).
 */
export function takesText(settings: readonly Setting[], path: readonly PropertyKey[]): boolean {
  const setting = settings.find((candidate) => candidate.path.every((step, index) => path[index] === step));
  return setting !== undefined && (setting.isText || path.length > setting.path.length);
}

/** True when the path is that of the whole configuration, of a section, or of a group within one. */
export function isSection(settings: readonly Setting[], path: readonly PropertyKey[]): boolean {
  return settings.some(
    (setting) => setting.path.length > path.length && path.every((step, index) => setting.path[index] === step),
  );
}

/** The keys that may stand under a section, or in an entry of a list. */
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
