import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { SharedTokenMap } from '../../../../src/core/token.js';
import { SharedTokens, type TokenRegistry } from '../../../../src/services/access/shared-tokens.js';
import { TokenFiles } from '../../../../src/services/access/token-files.js';

const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() } as never;

/** What the nodes share, and how often they have asked for it. */
class SharedState implements TokenRegistry {
  tellsChanges = true;
  pulls = 0;
  readonly #tokens = new Map<string, SharedTokenMap extends ReadonlyMap<string, infer T> ? T : never>();
  readonly #listeners: (() => void)[] = [];
  #version = 1;

  pull(known: string | undefined) {
    this.pulls += 1;
    const version = String(this.#version);
    return Promise.resolve(version === known ? undefined : { version, tokens: new Map(this.#tokens) });
  }

  push(tokens: SharedTokenMap): Promise<void> {
    for (const [id, token] of tokens) this.#tokens.set(id, token);
    this.#version += 1;
    for (const listener of this.tellsChanges ? this.#listeners : []) listener();
    return Promise.resolve();
  }

  claimFirst = () => Promise.resolve(false);

  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

let directory: string;
let registry: SharedState;

beforeEach(() => {
  vi.useFakeTimers();
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-shared-tokens-'));
  registry = new SharedState();
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

async function startNode(name: string) {
  const stateDirectory = join(directory, name);
  mkdirSync(stateDirectory);
  const files = new TokenFiles(stateDirectory);
  mkdirSync(files.directory, { recursive: true });
  const shared = new SharedTokens(files, stateDirectory, registry, 600_000, log);
  await shared.start();
  return { files, shared, names: () => files.read().tokens.map((token) => token.name) };
}

describe('tokens of several nodes', () => {
  it('come to another node without any time, when the node that has made them is told to look, and the registry tells', async () => {
    const one = await startNode('one');
    const other = await startNode('other');
    one.files.create({ name: 'ann', role: 'agent', lifeMs: undefined });
    one.shared.hasten();
    await vi.advanceTimersByTimeAsync(0);
    expect(other.names()).toEqual(['ann']);
    one.files.revoke('ann');
    one.shared.hasten();
    await vi.advanceTimersByTimeAsync(0);
    expect(other.names()).toEqual([]);
    await Promise.all([one, other].map(({ shared }) => shared[Symbol.asyncDispose]()));
  });

  it('are asked for each second only while the registry does not tell', async () => {
    const { shared } = await startNode('one');
    registry.pulls = 0;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(registry.pulls).toBe(2);
    registry.tellsChanges = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(registry.pulls).toBe(12);
    await shared[Symbol.asyncDispose]();
  });
});
