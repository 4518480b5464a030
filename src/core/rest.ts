import { z } from 'zod';

import { base64, bytesOf } from './output/utf8.js';

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

const ONE_RANGE = /^bytes=\s*(\d*)-(\d*)\s*$/i;

/**
 * Reads a header `Range` for a file of a size in bytes. Source: RFC 9110, section 14.
 * @returns undefined for one that is ignored: of several ranges, of another unit, or malformed
 */
export function parseRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = ONE_RANGE.exec(header) ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') return lastBytes(Number(last), size);
  const offset = Number(first);
  const end = last === '' ? Infinity : Number(last) + 1;
  if (end <= offset) return undefined;
  return offset >= size ? 'unsatisfiable' : { offset, length: Math.min(end, size) - offset };
}

function lastBytes(count: number, size: number): ByteRange | 'unsatisfiable' {
  if (count === 0 || size === 0) return 'unsatisfiable';
  const length = Math.min(count, size);
  return { offset: size - length, length };
}

/** Where a part of an upload belongs. */
interface ContentRange extends ByteRange {
  /** Undefined when the client does not know it. */
  readonly total: number | undefined;
}

const CONTENT_RANGE = /^bytes\s+(\d+)-(\d+)\/(\d+|\*)$/i;

/** Reads a header `Content-Range`; undefined for one that is malformed. */
export function parseContentRange(header: string): ContentRange | undefined {
  const found = CONTENT_RANGE.exec(header.trim());
  if (!found) return undefined;
  const [first, last, total] = found.slice(1).map(Number) as [number, number, number];
  if (last < first || last >= total) return undefined;
  return { offset: first, length: last - first + 1, total: Number.isNaN(total) ? undefined : total };
}

const TAG = /(W\/)?"([^"]*)"/g;

/**
 * The strong entity tags of a header `If-Match` or `If-None-Match`, without their quotes; `any` for `*`. A weak tag is
 * equal to none, because the daemon's are strong. Source: RFC 9110, section 8.8.3.
 */
export function strongTags(header: string): readonly string[] | 'any' {
  if (header.trim() === '*') return 'any';
  return [...header.matchAll(TAG)].flatMap(([, weak, tag]) => (weak === undefined && tag !== undefined ? [tag] : []));
}

/** Whether a header names the tag; weak ones count for `If-None-Match`. */
export const namesTag = (header: string, tag: string): boolean =>
  header.trim() === '*' || [...header.matchAll(TAG)].some(([, , each]) => each === tag);

/** Bytes in JSON, which has none of its own. */
interface JsonBytes {
  /** RFC 4648, section 4, with padding. */
  readonly base64: string;
}

/** Returns a value in which bytes, at any depth, are `{ base64 }`. A value without bytes is returned as it is. */
export function withJsonBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: base64(value) } satisfies JsonBytes;
  if (Array.isArray(value)) {
    const entries = value as unknown[];
    const converted = entries.map(withJsonBytes);
    return converted.every((entry, at) => entry === entries[at]) ? value : converted;
  }
  if (typeof value !== 'object' || value === null) return value;
  const changed = Object.entries(value)
    .map(([key, field]: [string, unknown]) => [key, withJsonBytes(field), field] as const)
    .filter(([, converted, field]) => converted !== field);
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

/** Returns the payload of a request with bytes in place of `{ base64 }`, in the fields that take bytes. */
export function fromJsonBytes(schema: z.ZodObject, payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null) return payload;
  const fields = payload as Readonly<Record<string, unknown>>;
  const given = Object.entries(schema.shape).flatMap(([name, field]) => {
    const bytes = Object.hasOwn(fields, name) && takesBytes(field) ? bytesIn(fields[name]) : undefined;
    return bytes ? [[name, bytes] as const] : [];
  });
  return given.length === 0 ? payload : { ...fields, ...Object.fromEntries(given) };
}

/** Whether a field takes bytes, alone or beside other values. */
function takesBytes(schema: unknown): boolean {
  if (schema instanceof z.ZodCustom) return true;
  if (schema instanceof z.ZodUnion) return schema.options.some(takesBytes);
  if (schema instanceof z.ZodPipe) return takesBytes(schema.in);
  return (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) && takesBytes(schema.unwrap());
}

function bytesIn(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { base64: digits, ...others } = value as Readonly<Record<string, unknown>>;
  return typeof digits === 'string' && Object.keys(others).length === 0 ? bytesOf(digits) : undefined;
}

/** Bounds on the answers that are kept. */
export interface KeptBounds {
  /** Time after which an answer is dropped, in milliseconds. */
  readonly maxAgeMs: number;
  /** Most answers of one owner. */
  readonly maxAnswers: number;
  /** Most characters of all answers of one owner; the newest is kept whatever its size. */
  readonly maxCharacters: number;
}

export interface Keepable {
  readonly text: string;
  /** False for one that is not kept: the same request runs again. */
  readonly isFinal: boolean;
}

/** A request that may be a repeated one. */
interface KeyedRequest {
  /** Id of the owner: keys of different owners have nothing to do with each other. */
  readonly owner: string;
  /** Chosen by the client. */
  readonly key: string;
  /** Equal for the same request. */
  readonly fingerprint: string;
}

interface Entry<Answer> {
  readonly fingerprint: string;
  readonly answer: Promise<Answer>;
  /** When the answer was there, in milliseconds; undefined while the request is under way. */
  answeredAtMs: number | undefined;
  characters: number;
}

type Entries<Answer> = Map<string, Entry<Answer>>;

/** An answer, and whether it was there before. */
interface Kept<Answer> {
  readonly answer: Answer;
  readonly isRepeated: boolean;
}

/**
 * Answers by the keys that clients have given their requests, so that a repeated request is answered and not run again,
 * also while the first one is under way.
 */
export class KeptAnswers<Answer extends Keepable> {
  readonly #bounds: KeptBounds;
  readonly #owners = new Map<string, Entries<Answer>>();
  readonly #now: () => number;

  /** @param now monotonic clock, in milliseconds */
  constructor(bounds: KeptBounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /**
   * Runs a request, or returns the answer of the one with the same key.
   * @param run never rejects
   * @returns undefined when the key belongs to another request
   */
  async once({ owner, key, fingerprint }: KeyedRequest, run: () => Promise<Answer>): Promise<Kept<Answer> | undefined> {
    this.#dropOld();
    const entries: Entries<Answer> = this.#owners.get(owner) ?? new Map<string, Entry<Answer>>();
    const known = entries.get(key);
    if (known) {
      if (known.fingerprint !== fingerprint) return undefined;
      return { answer: await known.answer, isRepeated: true };
    }
    this.#owners.set(owner, entries);
    const entry: Entry<Answer> = { fingerprint, answer: run(), answeredAtMs: undefined, characters: 0 };
    entries.set(key, entry);
    const answer = await entry.answer;
    entries.delete(key);
    if (answer.isFinal) {
      // The newest comes last.
      entries.set(key, Object.assign(entry, { answeredAtMs: this.#now(), characters: answer.text.length }));
      this.#makeRoom(entries);
    }
    return { answer, isRepeated: false };
  }

  #makeRoom(entries: Entries<Answer>): void {
    const kept = [...entries].filter(([, { answeredAtMs }]) => answeredAtMs !== undefined);
    let characters = kept.reduce((sum, [, entry]) => sum + entry.characters, 0);
    let count = kept.length;
    for (const [key, entry] of kept.slice(0, -1)) {
      if (count <= this.#bounds.maxAnswers && characters <= this.#bounds.maxCharacters) return;
      entries.delete(key);
      count -= 1;
      characters -= entry.characters;
    }
  }

  #dropOld(): void {
    const before = this.#now() - this.#bounds.maxAgeMs;
    for (const [owner, entries] of this.#owners) {
      for (const [key, { answeredAtMs }] of entries) {
        if (answeredAtMs !== undefined && answeredAtMs <= before) entries.delete(key);
      }
      if (entries.size === 0) this.#owners.delete(owner);
    }
  }
}
