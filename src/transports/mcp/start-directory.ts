import { isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Tool } from '../../core/tools/tool.js';
import { WORKSPACE } from '../../core/tools/tools.js';
import type { ToolBackend } from './tool-backend.js';

/** Where the commands of one client start that name no directory. */
export interface StartOptions {
  /** What the user has chosen; it goes before the client's roots. Undefined for none. */
  readonly chosen?: string | undefined;
  /** Where this server was started, when a client starts it itself; it comes after the client's roots. */
  readonly own?: string | undefined;
}

/** A request's payload with the directory that it starts in. */
export interface PlacedPayload {
  readonly payload: Readonly<Record<string, unknown>>;
  /** The directory that was filled in; undefined when the request keeps the daemon's default, or names its own. */
  readonly filledIn: string | undefined;
}

/** The root of file systems is where a program starts servers that has no project open. */
const NOWHERE: ReadonlySet<string> = new Set(['/', '']);

/**
 * Decides where commands start that name no directory: what the user has chosen, the first root that the client offers, where the
 * server was started, the daemon's workspace, in this order. A directory that the daemon cannot use gives way to the workspace,
 * and the next answer says so.
 */
export class StartDirectory {
  readonly #options: StartOptions;
  /** The first root of the client; null when it has none, undefined while that is not known. */
  #root: string | null | undefined;
  /** Directories that the daemon cannot use. */
  readonly #unusable = new Set<string>();
  /** Sandboxed daemons let commands write in their workspace alone. Undefined while it is not known. */
  #workspaceAlone: string | null | undefined;
  #notes: string[] = [];

  constructor(options: StartOptions = {}) {
    this.#options = options;
  }

  /** Where commands start, as words for a model. */
  get words(): string {
    return this.#wanted ?? WORKSPACE;
  }

  /** Whether the client has to be asked for its roots before the directory is known. */
  get needsRoots(): boolean {
    return this.#options.chosen === undefined && this.#root === undefined;
  }

  /** Takes what the client answers to `roots/list`: the first root that is a directory of this machine counts. */
  noteRoots(answer: unknown): void {
    const { roots = [] } = (answer ?? {}) as { readonly roots?: readonly { readonly uri?: unknown }[] };
    this.#root =
      (Array.isArray(roots) ? roots : []).map(({ uri }) => pathOf(uri)).find((path) => path !== undefined) ?? null;
  }

  /** The client has other roots now. */
  forgetRoots(): void {
    this.#root = undefined;
  }

  /** Whether a request starts something in a directory that it does not name in full. */
  concerns({ request }: Tool, { cwd, session_id: session }: Readonly<Record<string, unknown>>): boolean {
    return STARTERS.has(request) && session === undefined && !(typeof cwd === 'string' && isAbsolute(cwd));
  }

  /** Fills in the directory of a request that starts something and names none; a relative one is taken from here. */
  async place(tool: Tool, payload: Readonly<Record<string, unknown>>, backend: ToolBackend): Promise<PlacedPayload> {
    if (!this.concerns(tool, payload)) return { payload, filledIn: undefined };
    const { cwd } = payload;
    const start = await this.#usable(backend);
    if (start === undefined) return { payload, filledIn: undefined };
    if (typeof cwd === 'string') return { payload: { ...payload, cwd: resolve(start, cwd) }, filledIn: undefined };
    return { payload: { ...payload, cwd: start }, filledIn: start };
  }

  /** The daemon cannot use a directory: the workspace takes its place. */
  noteUnusable(directory: string, why: string): void {
    if (this.#unusable.has(directory)) return;
    this.#unusable.add(directory);
    this.#notes.push(`${why}: commands start in the daemon's workspace instead`);
  }

  /** What the model has not been told yet; each note is given once. */
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

  /** The directory that commands have to stay in; undefined for none. */
  async #boundary(backend: ToolBackend): Promise<string | undefined> {
    if (this.#workspaceAlone === undefined) {
      const metadata = (await backend.request('shell_metadata', {})) as Metadata;
      // Without an answer the request itself will say what is wrong.
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
    // Another host's, or no path.
    return undefined;
  }
}
