import { isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Tool } from '../../core/tools/tool.js';
import { WORKSPACE } from '../../core/tools/tools.js';
import type { ToolBackend } from './mcp-server.js';

/** Sources of the start directory of one client's commands. */
export interface StartOptions {
  /** Chosen by the user; takes precedence over the client's roots. Undefined for none. */
  readonly chosen?: string | undefined;
  /** Working directory of this server, when a client starts it itself; used after the client's roots. */
  readonly own?: string | undefined;
}

/** A request's payload with its start directory. */
export interface PlacedPayload {
  readonly payload: Readonly<Record<string, unknown>>;
  /** The directory that was filled in; undefined when the request keeps the daemon's default, or names its own. */
  readonly filledIn: string | undefined;
}

/** Programs without an open project start servers in the root of the file system. */
const NOWHERE: ReadonlySet<string> = new Set(['/', '']);

/**
 * Selects the start directory of commands that name none: the user's choice, the first root of the client, the working
 * directory of the server, the daemon's workspace, in this order. A directory that the daemon cannot use is replaced by
 * the workspace, and the next answer contains a note.
 */
export class StartDirectory {
  readonly #options: StartOptions;
  /** The first root of the client; null when it has none, undefined while unknown. */
  #root: string | null | undefined;
  /** Directories that the daemon cannot use. */
  readonly #unusable = new Set<string>();
  /** The workspace, when a sandbox confines commands to it; null without a sandbox, undefined while unknown. */
  #workspaceAlone: string | null | undefined;
  #notes: string[] = [];

  constructor(options: StartOptions = {}) {
    this.#options = options;
  }

  /** The start directory, as words for a model. */
  get words(): string {
    return this.#wanted ?? WORKSPACE;
  }

  /** True when the client has to be asked for its roots before the directory is known. */
  get needsRoots(): boolean {
    return this.#options.chosen === undefined && this.#root === undefined;
  }

  /** Reads the client's answer to `roots/list`: the first root that is a directory of this machine is used. */
  noteRoots(answer: unknown): void {
    const { roots = [] } = (answer ?? {}) as { readonly roots?: readonly { readonly uri?: unknown }[] };
    this.#root =
      (Array.isArray(roots) ? roots : []).map(({ uri }) => pathOf(uri)).find((path) => path !== undefined) ?? null;
  }

  /** Drops the client's roots after they have changed. */
  forgetRoots(): void {
    this.#root = undefined;
  }

  /** True when a request starts something in a directory that it does not name by an absolute path. */
  concerns({ request }: Tool, payload: Readonly<Record<string, unknown>>): boolean {
    const { cwd, path, session_id: session } = payload;
    if (typeof path === 'string') return FILE_REQUESTS.has(request) && session === undefined && !isAbsolute(path);
    return STARTERS.has(request) && session === undefined && !(typeof cwd === 'string' && isAbsolute(cwd));
  }

  /** Fills in the directory of a request that starts something; a relative directory is resolved against it. */
  async place(tool: Tool, payload: Readonly<Record<string, unknown>>, backend: ToolBackend): Promise<PlacedPayload> {
    if (!this.concerns(tool, payload)) return { payload, filledIn: undefined };
    const { cwd, path } = payload;
    const start = await this.#usable(backend);
    if (start === undefined) return { payload, filledIn: undefined };
    if (typeof path === 'string') return { payload: { ...payload, path: resolve(start, path) }, filledIn: undefined };
    if (typeof cwd === 'string') return { payload: { ...payload, cwd: resolve(start, cwd) }, filledIn: undefined };
    return { payload: { ...payload, cwd: start }, filledIn: start };
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
    const { chosen, own } = this.#options;
    const wanted = chosen ?? this.#root ?? own;
    return wanted === undefined || (chosen === undefined && NOWHERE.has(wanted)) ? undefined : wanted;
  }

  async #usable(backend: ToolBackend): Promise<string | undefined> {
    const wanted = this.#wanted;
    if (wanted === undefined || this.#unusable.has(wanted)) return undefined;
    const workspace = await this.#boundary(backend);
    if (workspace === undefined || isInside(wanted, workspace)) return wanted;
    this.noteUnusable(wanted, `commands run in a sandbox, and ${wanted} is outside its workspace ${workspace}`);
    return undefined;
  }

  /** The directory that commands are confined to; undefined for none. */
  async #boundary(backend: ToolBackend): Promise<string | undefined> {
    if (this.#workspaceAlone === undefined) {
      const metadata = (await backend.request('shell_metadata', {})) as Metadata;
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

/** Requests that start something in a directory of their own. */
const STARTERS: ReadonlySet<string> = new Set(['execute_command', 'open_session', 'check_command']);

/** Requests of tools whose path is relative to the same directory. */
const FILE_REQUESTS: ReadonlySet<string> = new Set(['read_file', 'write_file', 'edit_file', 'search_files']);

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
