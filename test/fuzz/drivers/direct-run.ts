import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

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

/**
 * Runs a program by its shell alone, in a process group of its own, and interrupts that once it waits. zsh gets it as a script
 * file: with `-c` it runs the last command in its own place, and may lose its exit code. A session looks whether all of a text
 * parses, as `-c` does and a script file does not. Start-up files of zsh are nobody's business here.
 */
export async function runDirectly(program: Program, cwd: string): Promise<Outcome> {
  const { shell, text } = program;
  if (shell !== 'zsh') return run(program, ['-c', text], cwd);
  if (spawnSync(shell, ['-f', '-n', '-c', text]).status !== 0) return run(program, ['-f', '-c', text], cwd);
  const folder = mkdtempSync(join(tmpdir(), 'shell-adapter-fuzz-'));
  try {
    const script = join(folder, 'script');
    writeFileSync(script, text);
    return await run(program, ['-f', script], cwd);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function run({ shell, isInterrupted }: Program, args: readonly string[], cwd: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(shell, args, {
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
