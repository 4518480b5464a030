import { expect } from 'vitest';

import type { Expectation, Step } from '../harness/table.js';
import type { PeerResult } from './peer.js';

type Text = string | RegExp;

/**
 * Compares what a peer says of a command with what the row expects, as far as the peer says it: output, exit code, and the size of
 * the output. Fields of our protocol alone (`status`, `session_state`, `background`, …) are not asked for.
 * @throws AssertionError that says what was seen
 */
export function judge(result: PeerResult, step: Step, title: string): void {
  const wanted = step.expect;
  if (step.options.output?.encoding === 'base64') {
    expect(result.bytes?.toString('base64'), `${title}: bytes`).toBe(wanted.stdout);
    return;
  }
  const stdout = wanted.whole ?? wanted.stdout ?? '';
  const stderr = wanted.stderr ?? '';
  if (result.stderr === undefined) judgeMixed(result.stdout, stdout, stderr, title);
  else {
    judgeText(result.stdout, stdout, `${title}: stdout`);
    judgeText(result.stderr, stderr, `${title}: stderr`);
  }
  judgeSize(result, wanted, title);
  judgeExitCode(result, wanted, title);
}

function judgeText(seen: string, wanted: Text, title: string): void {
  if (typeof wanted === 'string' ? seen === wanted : wanted.test(seen)) return;
  throw new Error(`${title} is ${show(seen)}, not ${typeof wanted === 'string' ? show(wanted) : String(wanted)}`);
}

/** Both streams as one text: their order is not known, so where both are expected, all of their lines must be there. */
function judgeMixed(seen: string, stdout: Text, stderr: Text, title: string): void {
  if (stderr === '' || stdout === '') judgeText(seen, stderr === '' ? stdout : stderr, `${title}: output`);
  else if (typeof stdout === 'string' && typeof stderr === 'string') {
    judgeText(sorted(seen), sorted(stdout + stderr), `${title}: lines of the output, sorted`);
  } else {
    for (const wanted of [stdout, stderr]) {
      const isThere = typeof wanted === 'string' ? seen.includes(wanted) : unanchored(wanted).test(seen);
      if (!isThere) throw new Error(`${title}: output is ${show(seen)}, without ${String(wanted)}`);
    }
  }
}

const sorted = (text: string): string => text.split('\n').sort().join('\n');

const unanchored = ({ source, flags }: RegExp): RegExp => new RegExp(source.replace(/^\^|(?<!\\)\$$/g, ''), flags);

function judgeSize(result: PeerResult, wanted: Expectation, title: string): void {
  if (wanted.stdout_bytes === undefined || wanted.lossy === true) return;
  const total = wanted.stdout_bytes + (result.stderr === undefined ? (wanted.stderr_bytes ?? 0) : 0);
  expect(Buffer.byteLength(result.stdout), `${title}: bytes of output`).toBe(total);
}

/** A command that is ended at its time-out has a code of its own in each system: only that it ends is compared. */
function judgeExitCode({ exitCode }: PeerResult, wanted: Expectation, title: string): void {
  if (exitCode === undefined || wanted.status === 'timed_out') return;
  expect(exitCode, `${title}: exit code`).toEqual(wanted.exit_code ?? 0);
}

/** Longest text that a message shows of each end, in characters. */
const SHOWN = 60;

function show(text: string): string {
  if (text.length <= 2 * SHOWN) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, SHOWN))}…${JSON.stringify(text.slice(-SHOWN))} (${text.length} characters)`;
}
