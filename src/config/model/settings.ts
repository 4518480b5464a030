import type { z } from 'zod';
import { type Facts, factsOf, fieldsOf, innerOf, type ReloadEffect, reloadOf } from '../fields.js';
import { codeName } from './code-values.js';
import { configurationSchema } from './schema.js';

/** A key of the configuration that holds a value. */
export interface Setting extends Facts {
  /** Path of the key, such as `['adapter', 'prewarm', 'sessions']`. */
  readonly path: readonly string[];
  /** Whether it accepts text only: a text that looks like a number is still text. */
  readonly isText: boolean;
  /** Whether it accepts a list of texts. */
  readonly isList: boolean;
  /** Keys of its entries, for a list or a mapping of mappings. */
  readonly entries: readonly Setting[];
  readonly reload: ReloadEffect;
}

/** Lists the keys of the schema in its order. */
export const listSettings = (): readonly Setting[] => collect(configurationSchema, [], 'now');

/** The environment variable that overrides a key. */
export const variableName = (path: readonly string[]): string => `SHELL_ADAPTER_${path.join('_').toUpperCase()}`;

/** A key, or a group of keys, that takes effect at the next start. */
export interface RestartKey {
  /** Name in the file, such as `adapter.kill_grace`. */
  readonly name: string;
  /** Path of its value in a `Configuration`. */
  readonly path: readonly string[];
}

/** Lists the keys that take effect at the next start; a group that does as a whole counts as one key. */
export const listRestartKeys = (): readonly RestartKey[] => collectRestarting(configurationSchema, '', []);

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
  const below = settings.filter(({ path }) => section.every((step, index) => path[index] === step));
  const keys = list ? list.entries.map(({ path }) => path[0]) : below.map(({ path }) => path[section.length]);
  return [...new Set(keys)].filter((key) => key !== undefined);
}

function collect(schema: z.core.$ZodType, path: readonly string[], outer: ReloadEffect): readonly Setting[] {
  const reload = reloadOf(schema) ?? outer;
  const fields = fieldsOf(schema);
  if (fields) return fields.flatMap(([key, field]) => collect(field, [...path, key], reload));
  const inner = innerOf(schema);
  const types = typesOf(inner);
  const entry = entryOf(inner);
  return [
    {
      ...(factsOf(schema) ?? { text: '', fallback: '' }),
      path,
      reload,
      isText: types.every((type) => type === 'text'),
      isList: types.includes('list'),
      entries: entry && fieldsOf(entry) ? collect(entry, [], reload) : [],
    },
  ];
}

function typesOf(schema: z.core.$ZodType): readonly ('text' | 'list' | 'other')[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'union') return def.options.map(innerOf).flatMap(typesOf);
  if (def.type === 'array') return ['list'];
  return [def.type === 'string' || def.type === 'enum' || def.type === 'literal' ? 'text' : 'other'];
}

function entryOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'array') return innerOf(def.element);
  return def.type === 'record' ? innerOf(def.valueType) : undefined;
}

function collectRestarting(schema: z.core.$ZodType, name: string, path: readonly string[]): readonly RestartKey[] {
  if (reloadOf(schema) === 'restart') return [{ name, path }];
  return (fieldsOf(schema) ?? []).flatMap(([key, field]) =>
    collectRestarting(field, name === '' ? key : `${name}.${key}`, [...path, codeName(key, field)]),
  );
}
