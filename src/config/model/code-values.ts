import { z } from 'zod';
import { conversionOf, fieldsOf, innerOf } from '../fields.js';
import { isMapping } from './problems.js';

/** Units in keys of the file that the code replaces by its own, `Bytes`. */
const SIZE_WORDS: ReadonlySet<string> = new Set<SizeWord>(['mb', 'kb', 'bytes']);
type SizeWord = 'mb' | 'kb' | 'bytes';

type WithoutSize<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? Head extends SizeWord
    ? WithoutSize<Tail>
    : Tail extends SizeWord
      ? Head
      : `${Head}_${WithoutSize<Tail>}`
  : Key;

type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key;

type CodeName<Key extends string, Suffix extends string> = Suffix extends 'Bytes'
  ? `${CamelCase<WithoutSize<Key>>}Bytes`
  : `${CamelCase<Key>}${Suffix}`;

/**
 * The name of a key in the code: camelCase, with the unit of the code at its end where that unit is not the one of the
 * file. `kill_grace` is `killGraceMs`, `max_file_mb` is `maxFileBytes`.
 */
export function codeName(key: string, field: z.core.$ZodType): string {
  const suffix = conversionOf(field)?.suffix ?? '';
  const words = key.split('_').filter((word) => suffix !== 'Bytes' || !SIZE_WORDS.has(word));
  const camelCase = words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)));
  return camelCase.join('') + suffix;
}

type Conversion<S> = S extends { readonly code: infer C } ? C : { readonly suffix: '' };
type SuffixOf<S> = Conversion<S> extends { readonly suffix: infer Suffix extends string } ? Suffix : '';

type Inner<S> =
  S extends z.ZodPrefault<infer I>
    ? I
    : S extends z.ZodDefault<infer I>
      ? I
      : S extends z.ZodOptional<infer I>
        ? I
        : S extends z.ZodPipe<infer I>
          ? I
          : never;

/** The value of a schema in the code; `V` is its validated value in the file. */
export type CodeValue<S, V = z.output<S>> = S extends { readonly code: { convert: (value: never) => infer Value } }
  ? Value
  : S extends z.ZodObject<infer Shape>
    ? {
        readonly [Key in keyof Shape & keyof V & string as CodeName<Key, SuffixOf<Shape[Key]>>]: CodeValue<
          Shape[Key],
          V[Key]
        >;
      }
    : S extends z.ZodRecord<z.core.$ZodRecordKey, infer Entry>
      ? Readonly<Record<string, CodeValue<Entry>>>
      : [Inner<S>] extends [never]
        ? V
        : CodeValue<Inner<S>, V>;

/** Converts a validated value to the names and units of the code. */
export const toCode = <S extends z.ZodType>(schema: S, value: z.output<S>): CodeValue<S> =>
  convert(schema, value) as CodeValue<S>;

function convert(schema: z.core.$ZodType, value: unknown): unknown {
  if (value === undefined) return undefined;
  const conversion = conversionOf(schema);
  if (conversion) return conversion.convert(value as never);
  if (!isMapping(value)) return value;
  const fields = fieldsOf(schema);
  if (fields)
    return Object.fromEntries(fields.map(([key, field]) => [codeName(key, field), convert(field, value[key])]));
  const inner = innerOf(schema);
  if (!(inner instanceof z.ZodRecord)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, convert(inner.valueType, entry)]));
}
