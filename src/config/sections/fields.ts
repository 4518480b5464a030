import { z } from 'zod';

/** Longest timer (2^31 - 1 ms, 24.8 days): beyond it, Node.js fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Milliseconds per unit of the file. */
export const UNIT_MS = { seconds: 1000, minutes: 60_000 } as const;

/** A time; fractions are allowed. `text` documents the key; unit and default are appended to it. */
export function duration(unit: keyof typeof UNIT_MS, fallback: number, text: string) {
  const max = Math.floor(MAX_TIMER_MS / UNIT_MS[unit]);
  const error = `must be a number of ${unit} above 0 and at most ${max}`;
  const schema = z.number({ error }).gt(0, { error }).lte(max, { error });
  return schema.default(fallback).describe(`${text} Unit: ${unit}. Default: ${fallback}.`);
}

/** Unit and bounds of a number, both included. */
interface Range {
  readonly unit: string;
  readonly min: number;
  readonly max: number;
}

/** A whole number. */
export function count({ unit, min, max }: Range, fallback: number, text: string) {
  return wholeNumber({ unit, min, max }).default(fallback).describe(`${text} Unit: ${unit}. Default: ${fallback}.`);
}

/** A whole number whose default is computed; `fallback` describes it. */
export function derivedCount(range: Range, fallback: string, text: string) {
  return wholeNumber(range).optional().describe(`${text} Unit: ${range.unit}. Default: ${fallback}.`);
}

function wholeNumber({ unit, min, max }: Range) {
  const error = `must be a whole number (${unit}) from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** One PB, in MB: larger than any machine has, so that only a mistake is rejected. */
const MAX_MB = 1024 ** 3;

/** Resources that can be limited, by key: the unit, and the highest plausible value. */
const LIMITED = {
  cpu_percent_limit: { unit: '% of one core', max: 1_000_000 },
  cpu_seconds_limit: { unit: 'seconds', max: 1_000_000_000 },
  memory_mb_limit: { unit: 'MB', max: MAX_MB },
  process_limit: { unit: 'processes and threads', max: 4_194_304 },
  disk_mb_limit: { unit: 'MB', max: MAX_MB },
  disk_free_mb_floor: { unit: 'MB', max: MAX_MB },
} as const;

/**
 * An upper bound; fractions are allowed.
 * @default no limit
 */
export const limit = (key: keyof typeof LIMITED, text: string) =>
  bound(key).describe(`${text} Unit: ${LIMITED[key].unit}. Default: no limit.`);

/** An upper bound of another section; the default is the value of the same key in `adapter`. */
export const ownLimit = (key: keyof typeof LIMITED, text: string) =>
  bound(key).describe(`${text} Unit: ${LIMITED[key].unit}. Default: that of adapter.`);

function bound(key: keyof typeof LIMITED) {
  const { unit, max } = LIMITED[key];
  const error = `must be a number (${unit}) above 0 and at most ${max}`;
  return z.number({ error }).gt(0, { error }).lte(max, { error }).optional();
}

/** A boolean. */
export function flag(fallback: boolean, text: string) {
  return z.boolean({ error: 'must be true or false' }).default(fallback).describe(`${text} Default: ${fallback}.`);
}

/** The path of a file or directory. `fallback` describes the default, which is computed when the file is loaded. */
export function path(fallback: string, text: string) {
  const error = 'must be a path';
  return z
    .string({ error })
    .min(1, { error: `${error}, not an empty text` })
    .refine((value) => !value.includes('\0'), { error: `${error} without null characters` })
    .refine((value) => !/^~[^/]/.test(value), { error: `${error}; only "~" and "~/…" (your own home) are understood` })
    .optional()
    .describe(`${text} Default: ${fallback}.`);
}
