#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';

import { type Context, ProcessOutput, releaseLostTerminals } from './cli/console/context.js';
import { runCommandLine } from './cli/program.js';

/** The files that `scripts/build.mjs` writes for this program. A user calls a link to one of them. */
const FILES: ReadonlySet<string> = new Set(['main.js', 'shell-adapter.cjs']);

const { env } = process;
const stdout = new ProcessOutput('stdout', env);
const stderr = new ProcessOutput('stderr', env);
const warnings = new Set<string>();
const faultListeners = new Set<(error: unknown) => void>();

const context: Context = {
  programName: findProgramName(),
  get version() {
    return readVersion();
  },
  env,
  cwd: process.cwd(),
  // What few calls use takes a millisecond.
  get stdin() {
    return process.stdin;
  },
  stdout,
  stderr,
  exitWith: (code) => {
    process.exitCode = code;
  },
  exitNow: (code) => process.exit(code),
  warnOnce: (line) => {
    if (!warnings.has(line)) void stderr.write(`shell-adapter: ${line}\n`);
    warnings.add(line);
  },
  onSignal: (signals, listener) => {
    for (const signal of signals) process.on(signal, listener);
    return {
      [Symbol.dispose]: () => {
        for (const signal of signals) process.off(signal, listener);
      },
    };
  },
  onFault: (listener) => {
    faultListeners.add(listener);
    return { [Symbol.dispose]: () => void faultListeners.delete(listener) };
  },
};

process.on('uncaughtException', takeFault);
process.on('unhandledRejection', takeFault);
process.on('exit', releaseLostTerminals);
// A write beyond a limit on the size of files fails with EFBIG. Node.js ignores this signal, but only until a library (signal-exit, which
// execa uses) has listened to it and stopped: from then on it would kill the process.
process.on('SIGXFSZ', () => undefined);
void run();

async function run(): Promise<void> {
  await runCommandLine(process.argv.slice(2), context);
  await Promise.all([stdout.flush(), stderr.flush()]);
  process.exit();
}

function takeFault(error: unknown): void {
  for (const listener of faultListeners) listener(error);
  if (faultListeners.size > 0) return;
  process.stderr.write(`shell-adapter: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}

/** The command by which a user can call this program again from the current directory. */
function findProgramName(): string {
  const script = process.argv[1] ?? '';
  if (FILES.has(basename(script))) return `node ${relative(process.cwd(), script)}`;
  return env['npm_command'] === 'exec' ? 'npx shell-adapter' : 'shell-adapter';
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
