import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

import { changesSince, type SharedToken, sharedToken, type SharedTokenMap, supersedes } from '../../core/token.js';
import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { Heartbeat } from '../../engine/system/heartbeat.js';
import { writePrivateFile } from '../../engine/system/local-files.js';
import { type StoredTokens, type TokenFiles, UNSETTLED, versionOf } from './token-files.js';

/** How often a node compares its tokens with its files, and with the registry while that tells no changes, in milliseconds. */
const COMPARE_MS = 1000;
/** How often it asks the registry while that tells changes, in milliseconds: one may have been lost. */
const ASK_MS = 5000;
/** Attempts within the time for which tokens count without an answer. */
const ATTEMPTS_PER_GRACE = 3;

/** The state of the tokens in the registry, and its name: another one after each change. */
export interface PulledTokens {
  readonly version: string | undefined;
  readonly tokens: SharedTokenMap;
}

/** Where the nodes of a cluster share their tokens. Every method rejects with REGISTRY_UNAVAILABLE when it does not answer. */
export interface TokenRegistry {
  /** What is there; undefined when its version is the known one. */
  pull(known: string | undefined): Promise<PulledTokens | undefined>;
  /** Writes tokens that supersede those that are there. */
  push(tokens: SharedTokenMap): Promise<void>;
  /** Whether this node makes the first token of the cluster: one alone does. */
  claimFirst(): Promise<boolean>;
  /** Calls `listener` after each change of what is there, as far as the registry can tell, and when it can again. */
  onChanged(listener: () => void): void;
  /** Whether changes are told at the moment. */
  readonly tellsChanges: boolean;
}

/**
 * The tokens of a cluster: the files of this node, kept the same as those of the others through the registry. A change on
 * one node, by a request or by the command line, is told to the others, which also ask now and then. The files hold while the registry
 * does not answer, for a limited time; an emptied registry is filled again by all nodes.
 */
export class SharedTokens implements AsyncDisposable {
  /** See `TokenFiles`. */
  readonly directory: string;
  readonly #files: TokenFiles;
  readonly #registry: TokenRegistry;
  /** How long tokens count while the registry does not answer. */
  readonly #graceMs: number;
  readonly #log: Log;
  readonly #stateFile: string;
  /** The tokens when the files were compared last, the marks of revoked ones included. */
  #known: Map<string, SharedToken>;
  #filesVersion = UNSETTLED;
  #registryVersion: string | undefined;
  #answeredAt = performance.now();
  #hasAnswered = false;
  #isStale = false;
  /** Whether the registry has told a change that was not taken yet. */
  #isTold = true;
  readonly #askMs: number;
  readonly #heartbeat = new Heartbeat(COMPARE_MS, () => this.#compare());
  /** Called after the tokens of this node have changed. */
  onChange: () => void = () => undefined;

  constructor(files: TokenFiles, stateDirectory: string, registry: TokenRegistry, graceMs: number, log: Log) {
    this.#files = files;
    this.#registry = registry;
    this.#graceMs = graceMs;
    this.#log = log;
    this.directory = files.directory;
    this.#stateFile = join(stateDirectory, 'shared-tokens.json');
    this.#known = readState(this.#stateFile);
    this.#askMs = Math.min(ASK_MS, graceMs / ATTEMPTS_PER_GRACE);
  }

  /** The tokens that count: none once the registry has not answered for too long (fail closed). */
  read(): StoredTokens {
    if (!this.#isStale) return this.#files.read();
    const problem = `the registry of the cluster has not answered for ${this.#graceMs / 1000} s: no token counts`;
    return { tokens: [], problems: [problem] };
  }

  /** Compares once, and then again and again. */
  async start(): Promise<void> {
    this.#registry.onChanged(() => {
      this.#isTold = true;
      this.#heartbeat.hasten();
    });
    await this.#heartbeat.start();
  }

  /** Has the files be compared at once: they have changed. */
  readonly hasten = (): void => {
    this.#heartbeat.hasten();
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#heartbeat[Symbol.asyncDispose]();
  }

  async #compare(): Promise<void> {
    const wasStale = this.#isStale;
    let hasChanged = false;
    try {
      this.#takeFiles();
      if (this.#isUpToDate) return;
      this.#isTold = false;
      hasChanged = await this.#exchange();
      this.#answeredAt = performance.now();
      this.#isStale = false;
    } catch (error) {
      if (!(error instanceof AdapterError)) this.#log.error('tokens cannot be shared', { error: String(error) });
      this.#isStale = performance.now() - this.#answeredAt > this.#graceMs;
    }
    if (hasChanged || wasStale !== this.#isStale) this.onChange();
  }

  /** Whether nothing has changed here or, as far as it is told, in the registry. */
  get #isUpToDate(): boolean {
    const isTold = this.#isTold || !this.#registry.tellsChanges;
    return !isTold && this.#registryVersion !== undefined && performance.now() - this.#answeredAt < this.#askMs;
  }

  /** Notes what has changed in the files. Where one of them cannot be read, nothing counts as revoked. */
  #takeFiles(): void {
    const version = versionOf(this.#files.directory);
    if (version !== UNSETTLED && version === this.#filesVersion) return;
    if (!existsSync(this.#files.directory)) return;
    const { tokens, problems } = this.#files.read();
    if (problems.length > 0) return;
    this.#filesVersion = version;
    const changes = changesSince(this.#known, tokens);
    if (changes.size === 0) return;
    for (const [id, change] of changes) this.#known.set(id, change);
    this.#save();
    // They are not in the registry yet.
    this.#registryVersion = undefined;
  }

  /** Takes what is newer in the registry, and writes what is newer here; returns whether files have changed. */
  async #exchange(): Promise<boolean> {
    const pulled = await this.#registry.pull(this.#registryVersion);
    if (!pulled) return false;
    const hasChanged = this.#take(pulled.tokens) || (await this.#makeFirst(pulled.tokens));
    const newer = [...this.#known].filter(([id, own]) => supersedes(own, pulled.tokens.get(id)));
    if (newer.length > 0) await this.#registry.push(new Map(newer));
    else this.#registryVersion = pulled.version;
    this.#hasAnswered = true;
    return hasChanged;
  }

  #take(theirs: SharedTokenMap): boolean {
    const newer = [...theirs].filter(([id, their]) => supersedes(their, this.#known.get(id)));
    if (newer.length === 0) return false;
    for (const [id, { version, token }] of newer) {
      if (token) this.#files.keep({ ...token, id });
      else this.#files.drop(id);
      this.#known.set(id, { version, token });
    }
    this.#save();
    return true;
  }

  /** Makes the first token of the cluster, on the node that finds none anywhere first. */
  async #makeFirst(theirs: SharedTokenMap): Promise<boolean> {
    if (this.#hasAnswered || theirs.size > 0 || this.#known.size > 0 || !(await this.#registry.claimFirst()))
      return false;
    const first = this.#files.createFirst();
    if (!first) return false;
    this.#log.info('the first token was made', { role: first.token.role, file: this.#files.firstSecretFile });
    this.#takeFiles();
    return true;
  }

  #save(): void {
    writePrivateFile(this.#stateFile, `${JSON.stringify(Object.fromEntries(this.#known))}\n`);
  }
}

const state = z.record(z.string(), sharedToken);

/**
 * The tokens that were shared before this start.
 * @throws the system's error, or that of the parser, when the file cannot be read
 */
function readState(file: string): Map<string, SharedToken> {
  if (!existsSync(file)) return new Map();
  return new Map(Object.entries(state.parse(JSON.parse(readFileSync(file, 'utf8')))));
}
