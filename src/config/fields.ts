import { z } from 'zod';

import { Secret } from '../core/secret.js';
import { MAX_TIMER_MS } from '../core/time.js';

/** When a value that a reload has changed takes effect: at once, for sessions opened afterwards, or at the next start. */
export type ReloadEffect = 'now' | 'new_sessions' | 'restart';

/** Place of a path without a value: a name in a directory. */
export interface PathDefault {
  /**
   * `start_directory`: the daemon's current directory. `state_home`: XDG_STATE_HOME or `~/.local/state`.
   * `state_directory`: the value of `adapter.state_directory`.
   */
  readonly in: 'start_directory' | 'state_home' | 'state_directory';
  readonly name: string;
}

/** Documentation and behaviour of a key. */
export interface Facts {
  /** Meaning of the key, in sentences. Markdown. */
  readonly text: string;
  /** Unit in the file; undefined for values without one. */
  readonly unit?: string;
  /** The default, for people. Markdown. */
  readonly fallback: string;
  /**
   * Effect of a reload.
   * @default 'now'
   */
  readonly reload?: ReloadEffect | undefined;
  /** Environment variable that provides a missing value; named by the tools of the service. */
  readonly variable?: string;
  /** Marks a path, or a list of paths, which becomes absolute; `if` restricts that to some texts. */
  readonly location?: { readonly default?: PathDefault; readonly if?: (text: string) => boolean };
  /** Whether the value, or each entry of it, is masked where settings are shown. */
  readonly isSecret?: boolean;
}

/** A key with its facts. Its value is the same in the file and in the code. */
export type Described<S extends z.ZodType> = S & { readonly facts: Facts };

/** A key whose value in the code differs from the one in the file. `Suffix` is the unit in its name in the code. */
type Converted<S extends z.ZodType, Value, Suffix extends string = ''> = Described<S> & {
  readonly code: { readonly suffix: Suffix; readonly convert: (value: never) => Value };
};

/** Adds facts to a schema. */
export const described = <S extends z.ZodType>(schema: S, facts: Facts): Described<S> =>
  Object.assign(schema, { facts });

/**
 * Adds facts to a schema, and a conversion to the value in the code.
 * @param convert is not called without a value
 */
export const converted = <S extends z.ZodType, Value, const Suffix extends string = ''>(
  schema: S,
  facts: Facts,
  convert: (value: NonNullable<z.output<S>>) => Value,
  suffix = '' as Suffix,
): Converted<S, undefined extends z.output<S> ? Value | undefined : Value, Suffix> =>
  Object.assign(schema, { facts, code: { suffix, convert } });

/** A group of keys that take effect at the next start, all together. Every key has a default. */
export const restarting = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  Object.assign(z.strictObject(shape).prefault({} as never), { reload: 'restart' as const });

/** Units of the file that the code does not use: the suffix of the name in the code, and the factor. */
const UNITS = {
  seconds: { suffix: 'Ms', factor: 1000 },
  minutes: { suffix: 'Ms', factor: 60_000 },
  bytes: { suffix: 'Bytes', factor: 1 },
  KB: { suffix: 'Bytes', factor: 1024 },
  MB: { suffix: 'Bytes', factor: 1024 * 1024 },
} as const;

type Units = typeof UNITS;
type SuffixOf<U extends string> = U extends keyof Units ? Units[U]['suffix'] : '';
type TimeUnit = 'seconds' | 'minutes';

/** Converts a value to the unit of the code, in whole numbers. Only zero becomes zero. */
const inUnitOfCode =
  (unit: string) =>
  (value: number): number =>
    unit in UNITS && value !== 0 ? Math.max(1, Math.round(value * UNITS[unit as keyof Units].factor)) : value;

const suffixOf = <U extends string>(unit: U) =>
  (unit in UNITS ? UNITS[unit as unknown as keyof Units].suffix : '') as SuffixOf<U>;

/** A literal value in documentation. */
const literal = (value: unknown): string => `\`${String(value)}\``;

/** Converts a time; at least one millisecond. */
export const secondsToMs = inUnitOfCode('seconds');

/** Schema of a time in the unit of the file; fractions are allowed. */
export function time(unit: TimeUnit) {
  const max = Math.floor(MAX_TIMER_MS / UNITS[unit].factor);
  const error = `must be a number of ${unit} above 0 and at most ${max}`;
  return z.number({ error }).gt(0, { error }).lte(max, { error });
}

/** A number whose unit decides about its name and value in the code. */
const measured = <S extends z.ZodType<number | undefined>, const U extends string>(
  schema: S,
  unit: U,
  facts: Omit<Facts, 'unit'>,
) => converted(schema, { ...facts, unit }, inUnitOfCode(unit), suffixOf(unit));

/** A time; milliseconds in the code. */
export const duration = <U extends TimeUnit>(unit: U, fallback: number, text: string, reload?: ReloadEffect) =>
  measured(time(unit).default(fallback), unit, { text, fallback: literal(fallback), reload });

/** A time without a value by default; `fallback` describes what happens then. */
export const optionalDuration = (unit: TimeUnit, fallback: string, text: string) =>
  measured(time(unit).optional(), unit, { text, fallback });

/** A time whose default its section computes; `fallback` describes it. */
export const computedDuration = (unit: TimeUnit, fallback: string, text: string) =>
  optionalDuration(unit, fallback, text) as Converted<z.ZodOptional<z.ZodNumber>, number, 'Ms'>;

/** Unit and bounds of a number, both included. */
interface Range<U extends string = string> {
  readonly unit: U;
  readonly min: number;
  readonly max: number;
}

/** Schema of a whole number. */
export function wholeNumber({ unit, min, max }: Range) {
  const error = `must be a whole number (${unit}) from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** A whole number; sizes in bytes and times in milliseconds in the code. */
export const count = <const U extends string>(range: Range<U>, fallback: number, text: string, reload?: ReloadEffect) =>
  measured(wholeNumber(range).default(fallback), range.unit, { text, fallback: literal(fallback), reload });

/** A whole number without a value by default; `fallback` describes what happens then. */
export const optionalCount = <const U extends string>(range: Range<U>, fallback: string, text: string) =>
  measured(wholeNumber(range).optional(), range.unit, { text, fallback });

/** A whole number of output characters whose default its section computes; `fallback` describes it. */
export const computedCount = (range: Range<'characters'>, fallback: string, text: string) =>
  described(wholeNumber(range).optional(), { text, unit: range.unit, fallback });

/** One PB, in MB: larger than any machine has, so that only a mistake is rejected. */
export const MAX_MB = 1024 ** 3;

/** One TB: larger than any sensible file, so that only a mistake is rejected. */
export const MAX_FILE_BYTES = 1024 ** 4;

/** Resources that can be limited, by key: the unit, which is that of the wire too, the highest plausible value, the use. */
const LIMITED = {
  cpu_percent_limit: { unit: '% of one core', max: 1_000_000, use: 'CPU, averaged over `adapter.cpu_window`,' },
  cpu_seconds_limit: { unit: 'seconds', max: 1_000_000_000, use: 'CPU time, counted until none runs any more,' },
  memory_mb_limit: { unit: 'MB', max: MAX_MB, use: 'Memory' },
  process_limit: { unit: 'processes and threads', max: 4_194_304, use: 'Number (threads and shell included)' },
  disk_mb_limit: { unit: 'MB', max: MAX_MB, use: 'Data written to disks, counted until none runs any more,' },
} as const;

/** A key that limits a resource. */
export type LimitKey = keyof typeof LIMITED;

/**
 * Upper bounds of the resources that all processes of something may use together. The units stay those of the file.
 * @param fallback describes the default of a key
 */
export function resourceLimits(of: string, fallback: (key: LimitKey) => string, reload?: ReloadEffect) {
  const fields = (Object.keys(LIMITED) as LimitKey[]).map((key) => {
    const { unit, use, max } = LIMITED[key];
    const facts = { text: `${use} of the processes of ${of} together.`, unit, fallback: fallback(key), reload };
    return [key, described(positive(unit, max), facts)] as const;
  });
  return Object.fromEntries(fields) as Record<LimitKey, (typeof fields)[number][1]>;
}

/** A size of disks in MB without a value by default; fractions are allowed. The unit stays the one of the file. */
export const diskFloor = (fallback: string, text: string) =>
  described(positive('MB', MAX_MB), { text, unit: 'MB', fallback });

function positive(unit: string, max: number) {
  const error = `must be a number (${unit}) above 0 and at most ${max}`;
  return z.number({ error }).gt(0, { error }).lte(max, { error }).optional();
}

export const flag = (fallback: boolean, text: string, reload?: ReloadEffect) =>
  described(z.boolean({ error: 'must be true or false' }).default(fallback), {
    text,
    fallback: literal(fallback),
    reload,
  });

export const oneOf = <const T extends readonly [string, ...string[]]>(names: T) =>
  z.enum(names, { error: `must be one of ${names.join(', ')}` });

export const choice = <const T extends readonly [string, ...string[]]>(
  names: T,
  fallback: T[number],
  text: string,
  reload?: ReloadEffect,
) =>
  described(oneOf(names).default(fallback as never), {
    text,
    fallback: literal(fallback),
    reload,
  });

/** Schema of a text that fulfils a condition; the error says which. */
export const textWhere = (isValid: (text: string) => boolean, error: string) =>
  z.string({ error }).refine(isValid, { error });

/** A list of texts or mappings, empty by default. */
export const list = <S extends z.ZodType>(entry: S, error: string, text: string, facts: Partial<Facts> = {}) =>
  described(z.array(entry, { error }).default([]), { text, fallback: 'none', ...facts });

const textError = 'must be a text';

/** Schema of a text that is not empty. */
export const text = z
  .string({ error: textError })
  .min(1, { error: `${textError}, not an empty one` })
  .refine((value) => !value.includes('\0'), { error: `${textError} without NUL` });

/** A text without a value by default; `fallback` describes what happens then. */
export const optionalText = (fallback: string, meaning: string, facts: Partial<Facts> = {}) =>
  described(text.optional(), { text: meaning, fallback, ...facts });

/** A text that must not be shown. */
export const secret = (fallback: string, meaning: string, facts: Partial<Facts> = {}) =>
  converted(
    text.optional(),
    { text: meaning, fallback, isSecret: true, ...facts },
    (value: string) => new Secret(value),
  );

/** Schema of a mapping of variables to their values. */
export function variables(mappingError: string) {
  const error = 'must be a text; write numbers and true or false in quotes';
  return z.record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'is not the name of a variable' }),
    z.string({ error }).refine((value) => !value.includes('\0'), { error }),
    { error: mappingError },
  );
}

const pathError = 'must be a path';

const pathText = z
  .string({ error: pathError })
  .min(1, { error: `${pathError}, not an empty text` })
  .refine((value) => !value.includes('\0'), { error: `${pathError} without null characters` })
  .refine((value) => !/^~[^/]/.test(value), {
    error: `${pathError}; only "~" and "~/…" (your own home) are understood`,
  });

const DIRECTORIES: Readonly<Record<PathDefault['in'], (name: string) => string>> = {
  start_directory: () => 'the directory that the daemon was started in',
  state_home: (name) => literal(`\${XDG_STATE_HOME:-~/.local/state}/${name}`),
  state_directory: (name) => `${literal(name)} in \`adapter.state_directory\``,
};

/** The path of a file or directory with a default place; absolute in the code. */
export function path(text: string, place: PathDefault, reload?: ReloadEffect) {
  const facts = {
    text,
    fallback: DIRECTORIES[place.in](place.name),
    location: { default: place },
    reload,
  };
  // The default place is filled in before the conversion.
  return converted(pathText.optional(), facts, (value: string) => value) as unknown as Converted<
    z.ZodOptional<z.ZodString>,
    string
  >;
}

/** The path of a file or directory that need not be given; absolute in the code. `fallback` describes what happens then. */
export const optionalPath = (fallback: string, text: string) =>
  described(pathText.optional(), { text, fallback, location: {} });
