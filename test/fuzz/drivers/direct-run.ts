import { spawn } from 'node:child_process';
import { constants } from 'node:os';

import { INTERRUPT_MARK, type Program } from './program.js';

/** What a shell gives for a text. */
export interface Outcome {
  readonly stdout: Buffer;
  readonly exitCode: number;
}

/** Longest time of a program, in milliseconds. */
const PROGRAM_MS = 10_000;

/** Between two interrupts, in milliseconds. */
const REPEAT_MS = 500;

/** Start-up files of zsh are nobody's business here. */
const FLAGS: Readonly<Record<Program['shell'], readonly string[]>> = { bash: [], zsh: ['-f'], sh: [] };

/** Runs a program by its shell alone, in a process group of its own, and interrupts that once it waits. */
export async function runDirectly({ shell, text, isInterrupted }: Program, cwd: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(shell, [...FLAGS[shell], '-c', text], {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const parts: Buffer[] = [];
    let hasInterrupted = false;
    let repeat: NodeJS.Timeout | undefined;
    const kill = (signal: NodeJS.Signals) => process.kill(-child.pid!, signal);
    const timer = setTimeout(() => {
      kill('SIGKILL');
      clearInterval(repeat);
      reject(new Error('the shell alone does not end'));
    }, PROGRAM_MS);
    child.stdout.on('data', (part: Buffer) => {
      parts.push(part);
      if (!isInterrupted || hasInterrupted || !Buffer.concat(parts).includes(INTERRUPT_MARK)) return;
      hasInterrupted = true;
      kill('SIGINT');
      // One that comes while zsh starts a program may be lost.
      repeat = setInterval(() => kill('SIGINT'), REPEAT_MS);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      clearInterval(repeat);
      resolve({ stdout: Buffer.concat(parts), exitCode: code ?? 128 + constants.signals[signal!] });
    });
  });
}
