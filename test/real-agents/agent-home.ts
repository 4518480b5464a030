import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { MAIN } from '../support/daemon.js';
import { type FoundProcess, processesWith } from '../support/processes.js';
import { install } from '../real-clis/install.js';
import { AgentRun } from './agent-run.js';
import type { Agent } from './agents.js';
import type { Snippet } from './guide-page.js';

const run = promisify(execFile);

/** Longest time in which an agent sets up or lists its servers, in milliseconds. */
const SETUP_TIMEOUT_MS = 60_000;

/** What an agent is led to. */
export interface AgentTargets {
  /** Of the scripted model. */
  readonly modelUrl: string;
  /** Of the daemon. */
  readonly daemonUrl: string;
  /** Directory that the agent works in. */
  readonly project: string;
}

/** An installed agent with a home directory of its own, and with `shell-adapter` on its PATH. */
export class AgentHome implements Disposable {
  readonly path: string;
  readonly #agent: Agent;
  readonly #program: string;
  readonly #project: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #logs: string;

  constructor(agent: Agent, { modelUrl, daemonUrl, project }: AgentTargets) {
    this.#agent = agent;
    this.#program = install(agent.name, agent.package);
    this.#project = project;
    // Not in /tmp, where codex does not trust its own files.
    mkdirSync(join(homedir(), '.cache'), { recursive: true });
    this.path = mkdtempSync(join(homedir(), '.cache/shell-adapter-agent-'));
    this.#logs = join(this.path, 'logs');
    for (const folder of ['bin', 'tmp', 'logs']) mkdirSync(join(this.path, folder));
    const launcher = join(this.path, 'bin/shell-adapter');
    writeFileSync(launcher, launcherOf(daemonUrl, this.#logs));
    chmodSync(launcher, 0o755);
    this.#env = {
      HOME: this.path,
      PATH: [join(this.path, 'bin'), dirname(this.#program), dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
      TMPDIR: join(this.path, 'tmp'),
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      ...agent.configure(this.path, modelUrl),
      ...agent.env,
    };
  }

  /** Does what a snippet of the guide says: runs its commands, or puts it into its file, beside what is there. */
  async apply({ kind, detail, text }: Snippet): Promise<void> {
    if (kind === 'commands') {
      await this.shell(text);
      return;
    }
    const path = detail.startsWith('~') ? join(this.path, detail.slice(1)) : join(this.#project, detail);
    mkdirSync(dirname(path), { recursive: true });
    const old = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    const isJson = path.endsWith('.json');
    const merged = isJson && old !== undefined ? JSON.stringify({ ...parse(old), ...parse(text) }) : undefined;
    writeFileSync(path, merged ?? `${old ?? ''}${text}`);
  }

  /** Runs commands of the guide in the project; gives both outputs. Rejects when they fail. */
  async shell(commands: string): Promise<string> {
    // Not synchronous: the proxy that the agent may connect through is in this process.
    const running = run('/bin/sh', ['-ec', `exec 2>&1 </dev/null\n${commands}`], {
      cwd: this.#project,
      env: this.#env,
      timeout: SETUP_TIMEOUT_MS,
    });
    return (await running).stdout;
  }

  /** Keeps what passes between the agent and MCP servers that it starts, until the recording is disposed. */
  record(): Disposable & { readonly seen: () => { readonly client: string; readonly server: string } } {
    const flag = join(this.#logs, 'record');
    writeFileSync(flag, '');
    const read = (name: string) => readFileSync(join(this.#logs, name), 'utf8');
    return {
      seen: () => ({ client: read('client'), server: read('server') }),
      [Symbol.dispose]: () => {
        rmSync(flag);
      },
    };
  }

  /** Gives the agent a task. */
  start(task: string): AgentRun {
    return new AgentRun([this.#program, ...this.#agent.args], task, {
      cwd: this.#project,
      env: this.#env,
      logs: this.#logs,
    });
  }

  /** The agent's processes and what they have started, MCP servers included: whatever has its home directory. */
  processes(): FoundProcess[] {
    return processesWith(`HOME=${this.path}\0`);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * A program that runs the built `shell-adapter` with the address of the daemon. It keeps what passes between an agent and its MCP
 * server once there is a file `record` in the folder.
 */
const launcherOf = (daemonUrl: string, folder: string): string => `#!/bin/sh
export SHELL_ADAPTER_URL=${daemonUrl}
if [ "$1" = mcp ] && [ -e ${folder}/record ]; then
  tee ${folder}/client | ${process.execPath} ${MAIN} "$@" | tee ${folder}/server
else
  exec ${process.execPath} ${MAIN} "$@"
fi
`;

const parse = (json: string) => JSON.parse(json) as Record<string, unknown>;
