import { readFileSync } from 'node:fs';

import type { AccessMode, DriverName } from '../../../src/core/llm/settings.js';
import type { LlmUsage } from '../../../src/core/llm/answer.js';

/** What a driver has to make of what its tool prints. */
export interface DriverExpectations {
  /** How it is called with the model `m-1` and the system prompt `S`. */
  readonly args: readonly string[];
  /** What is added to its arguments for each access mode. */
  readonly access: Readonly<Record<AccessMode, readonly string[]>>;
  /** Of a good run. */
  readonly usage: LlmUsage | undefined;
  /** Pieces in which the answer comes. */
  readonly chunks: number;
  /** Exit code of the run that the service refused with 401; undefined where no such output is known. */
  readonly failedWith: number | undefined;
  /** Largest prompt that it takes. */
  readonly largest: number;
}

const counts = { prompt_tokens: 111, completion_tokens: 22, total_tokens: 133, cached_tokens: 33 };
const MIB = 1024 * 1024;

export const EXPECTATIONS: Readonly<Record<DriverName, DriverExpectations>> = {
  claude: {
    args: [
      ...['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
      ...['--model', 'm-1', '--append-system-prompt', 'S'],
    ],
    access: {
      read: [],
      write: ['--permission-mode', 'acceptEdits'],
      full: ['--permission-mode', 'bypassPermissions'],
    },
    usage: { ...counts, prompt_tokens: 144, total_tokens: 166, cost_usd: 0.0008906000000000001 },
    chunks: 4,
    failedWith: 1,
    largest: 10 * MIB,
  },
  gemini: {
    args: ['-o', 'stream-json', '-m', 'm-1'],
    access: { read: [], write: ['--approval-mode', 'auto_edit'], full: ['--approval-mode', 'yolo'] },
    usage: counts,
    chunks: 4,
    failedWith: 145,
    largest: 8 * MIB,
  },
  'cursor-agent': {
    args: [
      ...['-p', '--output-format', 'stream-json', '--mode', 'ask'],
      ...['--model', 'm-1', 'SYSTEM: S\n\nUSER: hello'],
    ],
    access: {
      read: ['--mode', 'ask'],
      write: ['--force', '--sandbox', 'enabled'],
      full: ['--force', '--sandbox', 'disabled'],
    },
    usage: undefined,
    chunks: 1,
    failedWith: undefined,
    largest: 100_000,
  },
  opencode: {
    args: ['run', '--format', 'json', '--title', 'llm_call', '-m', 'm-1'],
    // By its configuration in a variable.
    access: { read: [], write: [], full: [] },
    usage: { ...counts, reasoning_tokens: 5, cost_usd: 0 },
    chunks: 1,
    failedWith: 1,
    largest: 8 * MIB,
  },
  codex: {
    args: [
      ...['exec', '--json', '--color', 'never', '--skip-git-repo-check', '-', '-s', 'read-only'],
      ...['-m', 'm-1', '-c', 'developer_instructions="S"'],
    ],
    access: { read: ['-s', 'read-only'], write: ['-s', 'workspace-write'], full: ['-s', 'danger-full-access'] },
    usage: { ...counts, reasoning_tokens: 5 },
    chunks: 1,
    failedWith: 1,
    largest: MIB,
  },
  qwen: {
    args: ['-o', 'stream-json', '--include-partial-messages', '-m', 'm-1', '--append-system-prompt', 'S'],
    access: { read: [], write: ['--approval-mode', 'auto-edit'], full: ['--approval-mode', 'yolo'] },
    // It asks the model a second time, behind the scenes.
    usage: { prompt_tokens: 222, completion_tokens: 44, total_tokens: 266, cached_tokens: 66 },
    chunks: 4,
    failedWith: 0,
    largest: 8 * MIB,
  },
};

/**
 * What a tool printed that was asked `hello`, or whose service refused its key. Printed by the tools themselves, in the
 * versions of docs/develop/real-clis.md; that of cursor-agent is from its documentation.
 */
export const readSample = (driver: DriverName, name: 'answer' | 'error'): string =>
  readFileSync(new URL(`../../fixtures/llm/samples/${driver}-${name}.jsonl`, import.meta.url), 'utf8');
