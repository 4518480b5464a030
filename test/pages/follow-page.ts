import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { eventually } from '../support/measure.js';
import type { Reader } from './reader.js';
import { isAsPrinted, readSteps, type Step } from './transcript.js';
import { TypedShell } from './typed-shell.js';

/** Sections whose heading begins so say that they need something that a machine may lack: they are left out there. */
const REQUIREMENTS: readonly (readonly [heading: string, check: string])[] = [
  ['Python', 'python3 -c "import socketio, requests, aiohttp"'],
  ['Redis', 'redis-server --version'],
  ['Sandbox', 'bwrap --ro-bind / / --unshare-pid true'],
];

/**
 * Takes every step of a page as a reader does, from the top to the end; nothing may run afterwards.
 * @param name what failures call the page
 * @param page its text
 */
export async function followPage(name: string, page: string, reader: Reader): Promise<void> {
  const shells: TypedShell[] = [];
  const missing = REQUIREMENTS.flatMap(([heading, check]) => (reader.can(check) ? [] : [heading]));
  const steps = readSteps(page).filter(
    ({ headings }) => !headings.some((title) => missing.some((heading) => title.startsWith(heading))),
  );
  try {
    for (const step of steps) await take(name, step, reader, shells);
    for (const shell of shells.toReversed()) await shell.leave();
    await eventually(() => {
      expect(reader.processes(), 'what still runs at the end of the page').toEqual([]);
    });
  } finally {
    for (const shell of shells) await shell[Symbol.asyncDispose]();
    reader.endProcesses();
  }
}

async function take(name: string, step: Step, reader: Reader, shells: TypedShell[]): Promise<void> {
  while (shells.length < step.terminal) shells.push(await TypedShell.open(reader.shell()));
  const shell = shells[step.terminal - 1]!;
  if (step.kind === 'save') {
    writeFileSync(join(await shell.currentDirectory(), step.name), step.text);
    return;
  }
  if (step.isInClone) await shell.changeDirectory(reader.clone);
  for (const example of step.examples) {
    const place = `${name}:${String(example.line)}: ${example.command}`;
    const output = await shell.run(example).catch((cause: unknown) => {
      throw new Error(`${place} ${cause instanceof Error ? cause.message : ''}`, { cause });
    });
    if (!isAsPrinted(output, example.expected)) expect(output.trimEnd(), place).toBe(example.expected);
  }
}
