import { execa, type Result } from 'execa';

import { AdapterError } from '../../../core/errors.js';

/** Where git is, and the repository that it works on. */
export interface GitOptions {
  /** Path of the program. */
  readonly program: string;
  /** A bare repository of the adapter's own. */
  readonly directory: string;
}

/** How a process of git is given its input and gives its output: as bytes. */
const IN_BYTES = { encoding: 'buffer', stripFinalNewline: false, extendEnv: false, reject: false } as const;

/** Most output that is taken at once, in bytes: the list of the files of a checkpoint is the longest. */
const MAX_OUTPUT_BYTES = 1024 * 1024 * 1024;

/** How a process of git has ended. */
interface GitEnd {
  readonly failed: boolean;
  readonly code?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly stderr?: Uint8Array | string | undefined;
  readonly originalMessage?: string | undefined;
}

/**
 * Runs git on a repository of the adapter's own, which has no working tree. Nothing that a user or the machine has
 * configured takes part: no configuration files, attributes, hooks, filters, external programs, replacements.
 */
export class Git {
  readonly #program: string;
  readonly #directory: string;

  constructor({ program, directory }: GitOptions) {
    this.#program = program;
    this.#directory = directory;
  }

  /**
   * Runs a command of git to its end; gives what it printed.
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

  /** Starts a command that is written to or read from while it runs. `end` gives its end and never rejects. */
  start(args: readonly string[], { output }: { readonly output: 'pipe' | 'ignore' }) {
    const process = execa(this.#program, [...args], {
      ...IN_BYTES,
      ...this.#surroundings(),
      stdin: 'pipe',
      stdout: output,
      buffer: { stdout: false },
    });
    // EPIPE: it has ended, which its end tells.
    process.stdin.on('error', () => undefined);
    const finished = process.then((end) => end as Result as GitEnd);
    return {
      stdin: process.stdin,
      stdout: process.stdout,
      kill: () => process.kill('SIGKILL'),
      /** Resolves when it has ended, however. */
      ended: finished.then(() => undefined),
      /** @throws as `run` does */
      check: async () => {
        const end = await finished;
        if (end.failed) throw failureOf(args, end);
      },
    };
  }

  /** The current directory is the repository: git looks for attributes and mailmaps there when it looks at all. */
  #surroundings(): { readonly cwd: string; readonly env: Record<string, string> } {
    return { cwd: this.#directory, env: gitEnvironment(this.#directory) };
  }
}

/** The environment of git: nothing of the daemon's own. */
function gitEnvironment(directory: string): Record<string, string> {
  const who = { NAME: 'shell-adapter', EMAIL: 'shell-adapter@localhost' };
  return {
    // For the programs of git's own that it starts; it looks through its exec path first.
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
    // What the adapter computes and cleans up by itself, whatever a later git makes by default.
    GIT_DEFAULT_HASH: 'sha1',
    GIT_DEFAULT_REF_FORMAT: 'files',
    GIT_AUTHOR_NAME: who.NAME,
    GIT_AUTHOR_EMAIL: who.EMAIL,
    GIT_COMMITTER_NAME: who.NAME,
    GIT_COMMITTER_EMAIL: who.EMAIL,
  };
}

function failureOf(args: readonly string[], { code, exitCode, signal, stderr, originalMessage }: GitEnd): AdapterError {
  if (code === 'ENOENT' || code === 'EACCES') {
    return new AdapterError('GIT_NOT_FOUND', `git cannot be run: ${originalMessage ?? code}`);
  }
  const said = Buffer.from(stderr ?? '')
    .toString()
    .trim();
  if (/no space left|out of diskspace|disk quota exceeded/i.test(said)) {
    return new AdapterError('RESOURCE_EXHAUSTED', 'the disk with the checkpoints (state_directory) is full', {
      details: { errno: 'ENOSPC' },
    });
  }
  const why = said.split('\n').at(-1) || originalMessage || `it ended with ${signal ?? exitCode ?? 'no code'}`;
  return new AdapterError('CHECKPOINT_FAILED', `git ${args[0] ?? ''} failed: ${why}`, {
    details: { git: args[0] ?? '', exit_code: exitCode ?? null, said },
  });
}
