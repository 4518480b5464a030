import { z } from 'zod';

/** The longest that a timer can wait (2^31 - 1 ms, 24.8 days): beyond it, Node.js fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Milliseconds in each unit that the file uses. */
export const UNIT_MS = { seconds: 1000, minutes: 60_000 } as const;

/** A time, fractions allowed. `text` documents the key; unit and default are added to it. */
export function duration(unit: keyof typeof UNIT_MS, fallback: number, text: string) {
  const max = Math.floor(MAX_TIMER_MS / UNIT_MS[unit]);
  const error = `must be a number of ${unit} above 0 and at most ${max}`;
  const schema = z.number({ error }).gt(0, { error }).lte(max, { error });
  return schema.default(fallback).describe(`${text} Unit: ${unit}. Default: ${fallback}.`);
}

/** What a number counts, and between which bounds (both included) it lies. */
interface Range {
  readonly unit: string;
  readonly min: number;
  readonly max: number;
}

/** A whole number. */
export function count({ unit, min, max }: Range, fallback: number, text: string) {
  return wholeNumber({ unit, min, max }).default(fallback).describe(`${text} Unit: ${unit}. Default: ${fallback}.`);
}

/** A whole number whose default is not a fixed one, but what `fallback` says. */
export function derivedCount(range: Range, fallback: string, text: string) {
  return wholeNumber(range).optional().describe(`${text} Unit: ${range.unit}. Default: ${fallback}.`);
}

function wholeNumber({ unit, min, max }: Range) {
  const error = `must be a whole number (${unit}) from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** An upper bound, fractions allowed. Left out, there is none. */
export function limit(unit: string, max: number, text: string) {
  const error = `must be a number (${unit}) above 0 and at most ${max}`;
  const schema = z.number({ error }).gt(0, { error }).lte(max, { error });
  return schema.optional().describe(`${text} Unit: ${unit}. Default: no limit.`);
}

/** A choice between true and false. */
export function flag(fallback: boolean, text: string) {
  return z.boolean({ error: 'must be true or false' }).default(fallback).describe(`${text} Default: ${fallback}.`);
}

/** The path of a file or directory. `fallback` documents the default, which is found when the file is loaded. */
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
