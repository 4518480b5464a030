import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseField } from '../platform/linux/proc-texts.js';
import { listChildren } from '../platform/linux/process-table.js';
import { readSmallFile } from '../system/small-file.js';

/** File through which processes enter a group, and which lists them. */
export const PROCS = 'cgroup.procs';
/**
 * File of version 1 through which single threads enter. A thread that moves itself does not need the lock that delays a
 * move of a process by up to 14 ms, and every fork and exit on the machine with it. Its children start in the group of
 * the thread.
 */
export const TASKS = 'tasks';

/** Reads the number in a control file; undefined when the file is missing, or contains `max`. */
export function readControlNumber(directory: string, file: string): number | undefined {
  const text = readSmallFile(join(directory, file));
  const value = text === undefined ? NaN : Number(text);
  return Number.isNaN(value) ? undefined : value;
}

/** Returns the sum of values in a control file of `key value` lines; missing keys count as 0. */
export function readControlSum(directory: string, file: string, ...keys: readonly string[]): number {
  const text = readSmallFile(join(directory, file)) ?? '';
  return keys.reduce((sum, key) => sum + parseField(text, key), 0);
}

/** Returns the process ids in a group. */
export function readMembers(directory: string): number[] {
  const text = readSmallFile(join(directory, PROCS)) ?? '';
  return text === '' ? [] : text.trimEnd().split('\n').map(Number);
}

/**
 * Returns the directory that the processes of a group enter: a subgroup, if they could write to the files of their group.
 * Root can: with a user namespace and a cgroup namespace, it may mount its group and what is below, but nothing above
 * (cgroup_namespaces(7)). The limits are above then.
 */
export const homeIn = (directory: string, isHeld: boolean): string => (isHeld ? join(directory, 'held') : directory);

/** Creates a group and those around it; idempotent. */
export const makeGroup = (directory: string): unknown => mkdirSync(directory, { recursive: true });

/** Removes a group and its subgroups. Returns false when they still contain processes. */
export function removeGroup(directory: string): boolean {
  // Subgroups are rare: searching for them first would take longer than the removal.
  if (tryRemove(directory)) return true;
  try {
    const groups = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return groups.length > 0 && groups.every(({ name }) => removeGroup(join(directory, name))) && tryRemove(directory);
  } catch (error) {
    return isGone(error);
  }
}

function tryRemove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    return isGone(error);
  }
}

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Returns every process in a group and its subgroups. */
export function membersBelow(directory: string): number[] {
  try {
    const groups = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [...readMembers(directory), ...groups.flatMap(({ name }) => membersBelow(join(directory, name)))];
  } catch {
    // The group has been removed.
    return [];
  }
}

/**
 * Moves a process and its descendants into groups. A pool thread writes the files: the first move after a pause takes
 * the kernel up to 14 ms.
 */
export async function moveTree(pid: number, joinFiles: readonly string[]): Promise<void> {
  await Promise.all(joinFiles.map((file) => writeFile(file, String(pid)).catch(ignoreGone)));
  await Promise.all(listChildren(pid).map((child) => moveTree(child.pid, joinFiles)));
}

function ignoreGone(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
}
