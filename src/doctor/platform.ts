import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

import { LIMIT_KEYS } from '../core/limits/limits.js';
import { unenforceableOn } from '../engine/limits/mechanism.js';
import type { Capabilities, Platform } from '../engine/platform/platform.js';
import { SYSTEM_PATH } from '../engine/platform/posix/process-list.js';
import { inspectProc } from './engine.js';
import { APT, type Finding, ON_LINUX } from './finding.js';

/** Abilities that a platform may lack, as people call them. */
const ABILITIES: Readonly<Record<keyof Capabilities, string>> = {
  controlGroups: 'control groups',
  sandbox: 'sandboxes',
  otherUsers: 'commands of other users',
  heldPaths: 'paths that cannot be redirected',
  openFiles: '`awaiting_input`',
  marks: 'finding processes that clear their environment',
  countWrites: 'limits on written bytes',
};

/** Programs that the platform `posix` runs, with the package of each, and what does not work without it. */
const PROGRAMS = [
  { program: 'lsof', package: 'lsof', use: '`list_ports`, previews, and local users without a token over TCP' },
  { program: 'netstat', package: 'net-tools', use: '`wait_for` with a port' },
] as const;

/** Checks what the platform can do, and what the configuration asks for beyond that. */
export const examinePlatform = (platform: Platform, limits: object | undefined): Finding[] => [
  examineAbilities(platform),
  ...(platform.can.openFiles ? [examineProc(platform)] : []),
  ...(platform.name === 'posix' ? PROGRAMS.map(examineProgram) : []),
  ...unenforceableOn(platform)
    .filter((name) => limits !== undefined && name in limits)
    .map((name) => unenforced(LIMIT_KEYS[name], platform)),
];

function examineAbilities({ name, can }: Platform): Finding {
  const lacks = Object.entries(ABILITIES).filter(([key]) => !can[key as keyof Capabilities]);
  if (lacks.length === 0) return { name: 'platform', status: 'ok', detail: name };
  const detail = `${name}, without ${lacks.map(([, text]) => text).join(', ')}`;
  return { name: 'platform', status: 'warn', detail, fix: ON_LINUX };
}

function examineProc(platform: Platform): Finding {
  const { hasProcesses, hasWaits } = inspectProc(platform);
  if (!hasProcesses) {
    const detail = '/proc does not show processes: what commands leave behind cannot be found';
    return { name: 'proc', status: 'missing', detail, fix: 'mount -t proc proc /proc; only Linux has it' };
  }
  if (hasWaits) return { name: 'proc', status: 'ok', detail: 'shows processes and what they wait for' };
  const detail = '/proc does not show what processes wait for: `awaiting_input` may not be told';
  return { name: 'proc', status: 'warn', detail, fix: 'run the daemon outside of a hardened container' };
}

function examineProgram({ program, package: name, use }: (typeof PROGRAMS)[number]): Finding {
  const path = SYSTEM_PATH.split(delimiter)
    .map((directory) => join(directory, program))
    .find(isExecutable);
  if (path !== undefined) return { name: program, status: 'ok', detail: `${path}, for ${use}` };
  const detail = `not in ${SYSTEM_PATH}: ${use} do not work`;
  return { name: program, status: 'warn', detail, fix: `apt-get install ${name} ${APT}` };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // ENOENT, EACCES.
    return false;
  }
}

function unenforced(key: string, { name }: Platform): Finding {
  const detail = `the platform ${name} cannot enforce it for commands: what they write is not counted`;
  return { name: `adapter.${key}`, status: 'warn', detail, fix: `remove it, or ${ON_LINUX}` };
}
