import { execa, type Result } from 'execa';

import type { BytePath } from '../../../core/checkpoints.js';
import { AdapterError } from '../../../core/errors.js';

/** The git program, and the repository on which it works. */
export interface GitOptions {
  /** Path of the program. */
  readonly program: string;
  /** A bare repository of the adapter. */
  readonly directory: string;
}

/** Options for input and output as bytes. */
const IN_BYTES = { encoding: 'buffer', stripFinalNewline: false, extendEnv: false, reject: false } as const;

/** Largest output that is read at once, in bytes: the list of the files of a checkpoint is the longest. */
const MAX_OUTPUT_BYTES = 1024 * 1024 * 1024;

/** How a git process has ended. */
interface GitEnd {
  readonly failed: boolean;
  readonly code?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly stderr?: Uint8Array | string | undefined;
  readonly originalMessage?: string | undefined;
}

/**
 * Runs git on a repository of the adapter, which has no working tree. Nothing configured by a user or the machine takes
 * effect: no configuration files, attributes, hooks, filters, external programs, replacements.
 */
export class Git {
  readonly #program: string;
  readonly #directory: string;

  constructor({ program, directory }: GitOptions) {
    this.#program = program;
    this.#directory = directory;
  }

  /**
   * Runs a git command to its end; returns its output.
   * @throws AdapterError GIT_NOT_FOUND, CHECKPOINT_FAILED, RESOURCE_EXHAUSTED
   */
  async run(args: readonly string[], input: string | Uint8Array = ''): Promise<Buffer> {
    const end = await execa(this.#program, [...args], {
      ...IN_BYTES,
      ...this.#surroundings(),
      input: typeof input === 'string' ? Buffer.from(input) : input,
      maxBuffer: MAX_OUTPUT_BYTES,
    });
    if (end.failed) throw failureOf(args, end as Result as GitEnd);
    return Buffer.from(end.stdout);
  }

  /** Starts a command that is written to or read from while it runs. `ended` resolves at its end and never rejects. */
  start(args: readonly string[], { output }: { readonly output: 'pipe' | 'ignore' }) {
    const process = execa(this.#program, [...args], {
      ...IN_BYTES,
      ...this.#surroundings(),
      stdin: 'pipe',
      stdout: output,
      buffer: { stdout: false },
    });
    // EPIPE: git has ended, which `ended` reports.
    process.stdin.on('error', () => undefined);
    const result = process.then((end) => end as Result as GitEnd);
    return {
      stdin: process.stdin,
      stdout: process.stdout,
      kill: () => process.kill('SIGKILL'),
      /** Resolves when git has ended, successfully or not. */
      ended: result.then(() => undefined),
      /** @throws as `run` does */
      check: async () => {
        const end = await result;
        if (end.failed) throw failureOf(args, end);
      },
    };
  }

  /** The current directory is the repository: git searches it for attributes and mailmaps, if anything. */
  #surroundings(): { readonly cwd: string; readonly env: Record<string, string> } {
    return { cwd: this.#directory, env: gitEnvironment(this.#directory) };
  }
}

/** Returns the environment of git: nothing from the daemon's own. */
function gitEnvironment(directory: string): Record<string, string> {
  const who = { NAME: 'shell-adapter', EMAIL: 'shell-adapter@localhost' };
  return {
    // For git's helper programs; git searches its exec path first.
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: directory,
    XDG_CONFIG_HOME: directory,
    GIT_DIR: directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_TERMINAL_PROMPT: '0',
    // The adapter computes hashes and cleans up refs itself, regardless of the defaults of later git versions.
    GIT_DEFAULT_HASH: 'sha1',
    GIT_DEFAULT_REF_FORMAT: 'files',
    GIT_AUTHOR_NAME: who.NAME,
    GIT_AUTHOR_EMAIL: who.EMAIL,
    GIT_COMMITTER_NAME: who.NAME,
    GIT_COMMITTER_EMAIL: who.EMAIL,
  };
}

function failureOf(args: readonly string[], end: GitEnd): AdapterError {
  const { code, exitCode, stderr } = end;
  if (code === 'ENOENT' || code === 'EACCES') {
    return new AdapterError('GIT_NOT_FOUND', `git cannot be run: ${end.originalMessage ?? code}`);
  }
  const said = Buffer.from(stderr ?? '')
    .toString()
    .trim();
  if (DISK_FULL.test(said)) {
    return new AdapterError('RESOURCE_EXHAUSTED', 'the disk with the checkpoints (state_directory) is full', {
      details: { errno: 'ENOSPC' },
    });
  }
  const [command = ''] = args;
  return new AdapterError('CHECKPOINT_FAILED', `git ${command} failed: ${whyFailed(end, said)}`, {
    details: { git: command, exit_code: exitCode ?? null, said },
  });
}

/** The messages of git, or of the C library, about a full disk or an exhausted disk quota. */
const DISK_FULL = /no space left|out of diskspace|disk quota exceeded/i;

/** Why git has failed: the last line of its error output, if there is any. */
const whyFailed = ({ originalMessage, signal, exitCode }: GitEnd, said: string): string =>
  said.split('\n').at(-1) || originalMessage || `it ended with ${signal ?? exitCode ?? 'no code'}`;

/** Returns the bytes of a path. */
export const toBytes = (path: BytePath): Buffer => Buffer.from(path, 'latin1');

/** Returns the path as text; bytes that are not UTF-8 become U+FFFD. */
export const toText = (path: BytePath): string => toBytes(path).toString('utf8');

/** Returns the path whose bytes are the UTF-8 of a text. */
export const fromText = (text: string): BytePath => Buffer.from(text, 'utf8').toString('latin1');
