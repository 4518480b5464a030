import { isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Tool } from '../../core/tools/tool.js';
import { WORKSPACE } from '../../core/tools/tools.js';
import type { Ask } from './tool-call.js';

/** Programs without an open project start servers in the root of the file system. */
const NOWHERE: ReadonlySet<string> = new Set(['/', '']);

/**
 * Selects the start directory of commands that name none: the user's choice, the first root of the client, the working
 * directory of the server, the daemon's workspace, in this order. A directory that the daemon cannot use is replaced by
 * the workspace, and the next answer contains a note.
 */
export class StartDirectory {
  readonly #chosen: string | undefined;
  readonly #own: string | undefined;
  /** The first root of the client; null when it has none, undefined while unknown. */
  #root: string | null | undefined;
  /** Directories that the daemon cannot use. */
  readonly #unusable = new Set<string>();
  /** The workspace, when a sandbox confines commands to it; null without a sandbox, undefined while unknown. */
  #workspaceAlone: string | null | undefined;
  #notes: string[] = [];

  /**
   * @param chosen chosen by the user; takes precedence over the client's roots
   * @param own working directory of this server, when a client starts it itself; used after the client's roots
   */
  constructor(chosen?: string, own?: string) {
    this.#chosen = chosen;
    this.#own = own;
  }

  /** The start directory, as words for a model. */
  get words(): string {
    return this.#wanted ?? WORKSPACE;
  }

  /** Drops the client's roots after they have changed. */
  forgetRoots(): void {
    this.#root = undefined;
  }

  /**
   * Resolves the path or the directory of a request against the start directory, or fills in that one.
   * @param askRoots gives the client's answer to `roots/list`; undefined for a client without roots
   */
  async place(tool: Tool, payload: Payload, ask: Ask, askRoots: () => Promise<unknown>): Promise<Payload> {
    const field = relativeField(tool, payload);
    if (field === undefined) return payload;
    if (this.#chosen === undefined && this.#root === undefined) this.#root = firstRoot(await askRoots());
    const start = await this.#usable(ask);
    if (start === undefined) return payload;
    const given = payload[field];
    return { ...payload, [field]: typeof given === 'string' ? resolve(start, given) : start };
  }

  /** Notes a directory that the daemon cannot use: the workspace replaces it. */
  noteUnusable(directory: string, why: string): void {
    if (this.#unusable.has(directory)) return;
    this.#unusable.add(directory);
    this.#notes.push(`${why}: commands start in the daemon's workspace instead`);
  }

  /** Returns the notes for the model that were not returned yet. */
  takeNotes(): readonly string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  get #wanted(): string | undefined {
    const wanted = this.#chosen ?? this.#root ?? this.#own;
    return wanted === undefined || (this.#chosen === undefined && NOWHERE.has(wanted)) ? undefined : wanted;
  }

  async #usable(ask: Ask): Promise<string | undefined> {
    const wanted = this.#wanted;
    if (wanted === undefined || this.#unusable.has(wanted)) return undefined;
    const workspace = await this.#boundary(ask);
    if (workspace === undefined || isInside(wanted, workspace)) return wanted;
    this.noteUnusable(wanted, `commands run in a sandbox, and ${wanted} is outside its workspace ${workspace}`);
    return undefined;
  }

  /** The directory that commands are confined to; undefined for none. */
  async #boundary(ask: Ask): Promise<string | undefined> {
    if (this.#workspaceAlone === undefined) {
      const metadata = (await ask('shell_metadata', {})) as Metadata;
      // Without metadata, the request itself will report the error.
      if (metadata.sandbox === undefined) return undefined;
      this.#workspaceAlone = metadata.sandbox.profile === 'none' ? null : (metadata.workspace_directory ?? null);
    }
    return this.#workspaceAlone ?? undefined;
  }
}

interface Metadata {
  readonly workspace_directory?: string;
  readonly sandbox?: { readonly profile: string };
}

type Payload = Readonly<Record<string, unknown>>;

/** The field that is relative to the start directory, or left out; undefined where the session's directory counts. */
function relativeField({ schema }: Tool, payload: Payload): 'path' | 'cwd' | undefined {
  if (payload['session_id'] !== undefined) return undefined;
  const field = payload['path'] === undefined ? 'cwd' : 'path';
  const given = payload[field];
  if (typeof given === 'string' && isAbsolute(given)) return undefined;
  return Object.hasOwn(schema.properties, field) ? field : undefined;
}

/** The first root that is a directory of this machine; null when there is none. */
function firstRoot(answer: unknown): string | null {
  const { roots } = (answer ?? {}) as { readonly roots?: readonly { readonly uri?: unknown }[] };
  if (!Array.isArray(roots)) return null;
  return roots.map(({ uri }: { readonly uri?: unknown }) => pathOf(uri)).find((path) => path !== undefined) ?? null;
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}

/** The path of a `file:` URI of this machine; undefined for anything else. */
function pathOf(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !uri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    // The URI of another host, or without a path.
    return undefined;
  }
}
