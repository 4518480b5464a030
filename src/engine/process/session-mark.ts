import { createHash } from 'node:crypto';

/*
 * A second identification of a session, for processes that have cleared their environment and their tag with it: a
 * number in the soft limit of file locks (RLIMIT_LOCKS). Linux has not enforced that limit since 2.4.25 (getrlimit(2)),
 * inherits it through fork(2) and execve(2) whatever a process does to its environment, session or parent, and shows it
 * to every user in /proc/PID/limits. Any shell can set it. Only a process that sets this very limit itself loses the
 * mark.
 */

/** Variable that passes the mark to a starting shell; the shell removes the variable. */
export const MARK_VARIABLE = '__SA_MARK';

/**
 * Bits for the instance, and as many for the session. Together they stay below the sign bit, which not every shell can
 * parse.
 */
const PART_BITS = 31n;

const partOf = (text: string): bigint =>
  BigInt(createHash('sha256').update(text).digest().readUInt32BE()) & ((1n << PART_BITS) - 1n);

/**
 * Returns the mark of a session's processes, as a decimal number.
 * @param tag `instance.session`
 */
export function markOf(tag: string): string {
  const instance = tag.slice(0, tag.lastIndexOf('.'));
  return String((partOf(instance) << PART_BITS) | partOf(tag));
}

/**
 * Returns a predicate for origins of a session, or of one of its commands.
 * @param tag `instance.session`
 */
export function isOriginIn(tag: string): (origin: string | undefined) => boolean {
  const mark = markOf(tag);
  return (origin) =>
    origin !== undefined &&
    (origin === mark || (origin.startsWith(tag) && (origin.length === tag.length || origin[tag.length] === '.')));
}

/** Returns a predicate for origins of any session, or other process, of an instance. */
export function isOriginOf(instance: string): (origin: string | undefined) => boolean {
  const part = partOf(instance);
  return (origin) =>
    origin !== undefined &&
    (origin.startsWith(`${instance}.`) || (/^\d+$/.test(origin) && BigInt(origin) >> PART_BITS === part));
}

/** A tag `instance.session` from the origin of a process: without the number of a command. */
export const sessionOf = (origin: string): string => /^[^.]*\.[^.]*/.exec(origin)?.[0] ?? origin;
