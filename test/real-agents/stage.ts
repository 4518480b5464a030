import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, vi } from 'vitest';

import { TestDaemon } from '../support/daemon.js';
import { LlmService } from '../support/llm/llm-service.js';
import { instanceOf, isRunning, taggedProcesses } from '../support/processes.js';
import { AgentHome } from './agent-home.js';
import type { Agent, Transport } from './agents.js';
import { type Snippet, snippetsFor } from './guide-page.js';
import { Recorder } from './recorder.js';
import * as scenarios from './scenarios.js';
import { type Answer, Script, type Step } from './script.js';

/** What the agent is told to do, and the model's last words. */
const WORDS = { task: 'TASK-4711: work through the script.', done: 'DONE-4711' };

/** Longest time until an agent on a busy machine has its model call the first tool, in milliseconds. */
const START_MS = 90_000;
/** An interrupted agent that has not ended by then is killed, in milliseconds. */
const INTERRUPT_MS = 10_000;
/** Longest time until everything is gone that an agent has started, in milliseconds: the server waits ten seconds for a lost client. */
const CLEAN_UP_MS = 20_000;

/** A daemon, a scripted model and an agent between them. */
export class Stage implements AsyncDisposable {
  readonly service: LlmService;
  readonly home: AgentHome;
  readonly project: string;
  /** In front of the daemon's HTTP port. */
  readonly recorder: Recorder;
  readonly #daemon: TestDaemon;
  readonly #makeHome: () => AgentHome;
  readonly #snippets: readonly Snippet[];
  /** Processes that the daemon has anyway. */
  readonly #calm: number;

  private constructor(agent: Agent, transport: Transport, parts: readonly [LlmService, TestDaemon, Recorder]) {
    const [service, daemon, recorder] = parts;
    this.service = service;
    this.recorder = recorder;
    this.#daemon = daemon;
    this.project = join(daemon.workspace, 'project');
    mkdirSync(this.project);
    const targets = { modelUrl: service.url, daemonUrl: daemon.url, project: this.project };
    this.#makeHome = () => new AgentHome(agent, targets);
    this.home = this.#makeHome();
    this.#snippets = snippetsFor({ program: agent.name, transport }, recorder.url);
    this.#calm = this.#tagged().length;
  }

  static async set(agent: Agent, transport: Transport): Promise<Stage> {
    const service = await LlmService.start();
    // Shells that are kept ready come and go; what is left is counted.
    const adapter = { prewarm: { sessions: 0, one_shots: 0 } };
    const daemon = await TestDaemon.start({ settings: { adapter, confirmation: { mode: 'self' } } });
    const stage = new Stage(agent, transport, [service, daemon, await Recorder.start(daemon.url)]);
    const setup = stage.#snippets.filter(({ kind }) => kind === 'file' || kind === 'commands');
    for (const snippet of setup) await stage.home.apply(snippet);
    return stage;
  }

  /** Has the agent list its servers, for each way of setting it up that the guide gives. */
  async expectListed(): Promise<void> {
    const checks = this.#snippets.filter(({ kind }) => kind === 'check');
    expect(checks).toHaveLength(1);
    const expectIn = async (home: AgentHome) => {
      for (const { text, detail } of checks)
        expect(await home.shell(text)).toMatch(new RegExp(`shell\\b[^]*${detail}`));
    };
    await expectIn(this.home);
    const others = this.#snippets.filter(({ kind }) => kind === 'or file');
    for (const snippet of others) {
      using home = this.#makeHome();
      await home.apply(snippet);
      await expectIn(home);
    }
  }

  /** Has the model make these calls; gives the answers that it got to read. */
  async follow(steps: readonly Step[]): Promise<readonly Answer[]> {
    const script = new Script(WORDS, steps);
    this.service.script = script.turn;
    await using run = this.home.start(WORDS.task);
    const { stdout, stderr } = await run.ended;
    expect(stdout, stderr).toContain(WORDS.done);
    return script.answers;
  }

  /** Has the model run a command that does not end, interrupts the agent, and waits for the command's end. */
  async interrupt(): Promise<void> {
    const pidFile = join(this.project, 'pid');
    this.service.script = new Script(WORDS, scenarios.endless(pidFile)).turn;
    await using run = this.home.start(WORDS.task);
    const pid = await vi.waitFor(
      () => {
        const found = Number(readFileSync(pidFile, 'utf8'));
        expect(isRunning(found)).toBe(true);
        return found;
      },
      { timeout: START_MS, interval: 50 },
    );
    run.signal('SIGINT');
    // As by closing the terminal.
    const timer = setTimeout(() => {
      run.signal('SIGKILL');
    }, INTERRUPT_MS);
    await run.ended;
    clearTimeout(timer);
    await vi.waitFor(
      () => {
        expect(isRunning(pid)).toBe(false);
      },
      { timeout: CLEAN_UP_MS, interval: 50 },
    );
  }

  get workspace(): string {
    return this.#daemon.workspace;
  }

  /** Waits until neither the agent nor the daemon has a process left that was not there before. */
  async expectNothingLeft(): Promise<void> {
    await vi.waitFor(
      () => {
        expect(this.home.processes()).toEqual([]);
        const left = this.#tagged();
        expect(left.length, JSON.stringify(left)).toBeLessThanOrEqual(this.#calm);
      },
      { timeout: CLEAN_UP_MS, interval: 50 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.home[Symbol.dispose]();
    await this.recorder[Symbol.asyncDispose]();
    await this.#daemon[Symbol.asyncDispose]();
    await this.service[Symbol.asyncDispose]();
  }

  #tagged() {
    return taggedProcesses(instanceOf(this.#daemon.pid));
  }
}
