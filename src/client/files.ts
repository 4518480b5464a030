import type { Answer, RequestInput } from '../core/protocol/requests.js';
import { admittedFile, ClientError } from './errors.js';
import type { ClientLink } from './link.js';

/** Options of a request about files: those of the request itself, in the words of the protocol. */
type Options<N extends FileRequest> = Omit<RequestInput<N>, 'path' | 'session_id' | 'data' | 'to'>;

/** Requests about files. */
type FileRequest =
  | 'read_file'
  | 'write_file'
  | 'edit_file'
  | 'list_directory'
  | 'stat_path'
  | 'make_directory'
  | 'move_path'
  | 'remove_path'
  | 'find_files'
  | 'search_files';

/**
 * Files of the daemon's machine, as commands there see them. What has to be confirmed by this client rejects with a
 * ConfirmationRequiredError: then nothing was done. The answers have no time limit, because a person may have to decide.
 */
export class ClientFiles {
  readonly #link: ClientLink;
  readonly #sessionId: string | undefined;

  /** @param sessionId whose directory, sandbox and user count; by default those of commands without a session */
  constructor(link: ClientLink, sessionId?: string) {
    this.#link = link;
    this.#sessionId = sessionId;
  }

  /** Reads a part of a file as bytes, or with `encoding` or `line_numbers` as text. */
  read(path: string, options: Options<'read_file'> = {}): Promise<Answer<'read_file'>> {
    return this.#request('read_file', { ...options, path });
  }

  /** Reads the first 4 MiB of a text file. */
  async readText(path: string): Promise<string> {
    const { data } = await this.read(path, { encoding: 'utf8', length: MAX_TEXT_BYTES });
    return typeof data === 'string' ? data : '';
  }

  /** Writes a file. */
  write(path: string, data: string | Uint8Array, options: Options<'write_file'> = {}): Promise<Answer<'write_file'>> {
    return this.#request('write_file', { ...options, path, data });
  }

  /** Replaces an exact text in a file. */
  edit(path: string, options: Options<'edit_file'>): Promise<Answer<'edit_file'>> {
    return this.#request('edit_file', { ...options, path });
  }

  /** Lists a directory, by default that of the session, or the workspace. */
  async list(path?: string, options: Options<'list_directory'> = {}): Promise<Answer<'list_directory'>> {
    const answer = await this.#request('list_directory', { ...options, path });
    for (const { name } of answer.entries) assertName(name);
    return answer;
  }

  /** Describes a file or a directory. */
  stat(path: string, options: Options<'stat_path'> = {}): Promise<Answer<'stat_path'>> {
    return this.#request('stat_path', { ...options, path });
  }

  /** Makes a directory. */
  makeDirectory(path: string, options: Options<'make_directory'> = {}): Promise<Answer<'make_directory'>> {
    return this.#request('make_directory', { ...options, path });
  }

  /** Moves or renames a file or a directory. */
  move(path: string, to: string, options: Options<'move_path'> = {}): Promise<Answer<'move_path'>> {
    return this.#request('move_path', { ...options, path, to });
  }

  /** Removes a file, or a directory. */
  remove(path: string, options: Options<'remove_path'> = {}): Promise<Answer<'remove_path'>> {
    return this.#request('remove_path', { ...options, path });
  }

  /** Finds files and directories by a glob. */
  find(pattern?: string, options: Omit<RequestInput<'find_files'>, 'session_id'> = {}): Promise<Answer<'find_files'>> {
    return this.#request('find_files', { ...options, pattern });
  }

  /** Searches text files, line by line. */
  search(
    pattern: string,
    options: Omit<RequestInput<'search_files'>, 'pattern' | 'session_id'> = {},
  ): Promise<Answer<'search_files'>> {
    return this.#request('search_files', { ...options, pattern });
  }

  async #request<N extends FileRequest>(name: N, payload: RequestInput<N>): Promise<Answer<N>> {
    const request = { ...payload, session_id: this.#sessionId };
    return admittedFile(await this.#link.request(name, request, { timeoutMs: Infinity }));
  }
}

/**
 * Checks that the name of a directory entry is one: joined to a path, any other text may lead out of it.
 * @throws ClientError INVALID_ANSWER
 */
export function assertName(name: string): void {
  if (name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)) return;
  throw new ClientError('INVALID_ANSWER', `the daemon gave ${JSON.stringify(name)} as the name of a file`);
}

/** Most bytes of one read. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;
