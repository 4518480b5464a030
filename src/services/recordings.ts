import { canAccess, type Principal, type Role } from '../core/principal.js';
import { nodeNameIn } from '../core/cluster/address.js';
import { AdapterError } from '../core/errors.js';
import { ID_BYTES, recordingIdFrom } from '../core/ids.js';
import type { Log } from '../core/log.js';
import { forbidden } from '../core/protocol/permissions.js';
import type { Answer, Request } from '../core/protocol/requests.js';
import type { RecordingInfo } from '../core/protocol/requests/recordings.js';
import { OWN_KEY } from '../core/recording.js';
import type { SecretMask } from '../core/secrets.js';
import { RecordingFiles, type RecordingSummary } from '../engine/output/recording-files.js';
import { RecordingWriter } from '../engine/output/recording-writer.js';
import { randomBytes } from '../engine/system/random.js';
import { SessionRecorder } from './session-recorder.js';

/** Default length of a `read_recording` answer, in bytes. */
const DEFAULT_READ_BYTES = 256 * 1024;
/** Default number of recordings in a list. */
const DEFAULT_LIMIT = 200;

interface RecordingSettings {
  /** Roles whose sessions are always recorded. */
  readonly roles: readonly Role[];
  readonly maxBytes: number;
  readonly maxTotalBytes: number;
}

/** A session that is about to be opened. */
interface RecordedSession {
  readonly id: string;
  readonly owner: Principal;
  readonly label: string | undefined;
  readonly shell: string;
  readonly cols: number;
  readonly rows: number;
}

/** Keeps the recordings of sessions: begins, ends, lists, reads and deletes them. */
export class Recordings {
  readonly #directory: string;
  readonly #settings: () => RecordingSettings;
  readonly #secrets: SecretMask;
  readonly #log: Log;
  readonly #files: RecordingFiles;
  readonly #running = new Map<string, SessionRecorder>();

  constructor(directory: string, settings: () => RecordingSettings, secrets: SecretMask, log: Log) {
    this.#directory = directory;
    this.#settings = settings;
    this.#secrets = secrets;
    this.#log = log;
    this.#files = new RecordingFiles(directory);
  }

  /** Creates the directory, if it is not within the state directory, so that sandboxes can hide it. Never rejects. */
  async prepare(stateDirectory: string): Promise<void> {
    if (this.#directory.startsWith(`${stateDirectory}/`)) return;
    await this.#files.prepare().catch((error: unknown) => {
      this.#log.warn('the directory of the recordings cannot be created', {
        directory: this.#directory,
        error: String(error),
      });
    });
  }

  /**
   * Begins the recording of a session if its client asks for it, or the configuration does for its role.
   * @throws AdapterError RESOURCE_EXHAUSTED when the file cannot be created
   */
  async begin(session: RecordedSession, isAsked = false): Promise<SessionRecorder | undefined> {
    const { roles, maxBytes } = this.#settings();
    const isConfigured = roles.includes(session.owner.role);
    if (!isAsked && !isConfigured) return undefined;
    const id = recordingIdFrom(randomBytes(ID_BYTES));
    try {
      await this.#files.prepare();
      const writer = await RecordingWriter.create({
        path: this.#files.pathOf(id),
        header: this.#headerOf(id, session, isConfigured),
        maxBytes,
        onCut: (reason) => {
          this.#log.warn('a recording ended before its session', { recording_id: id, session_id: session.id, reason });
        },
      });
      const recorder = new SessionRecorder(id, writer, this.#secrets);
      this.#running.set(id, recorder);
      return recorder;
    } catch (error) {
      const { message, code: errno } = error as NodeJS.ErrnoException;
      throw new AdapterError('RESOURCE_EXHAUSTED', `the session cannot be recorded: ${message}`, {
        details: { errno },
      });
    }
  }

  /** Ends a recording with its session, and deletes the oldest ones if there are too many. Never rejects. */
  async end(recorder: SessionRecorder | undefined): Promise<void> {
    if (!recorder) return;
    await recorder.end();
    this.#running.delete(recorder.id);
    await this.#prune();
  }

  /** Ends and deletes the recording of a session that could not be opened. */
  async discard(recorder: SessionRecorder | undefined): Promise<void> {
    if (!recorder) return;
    await recorder.end();
    this.#running.delete(recorder.id);
    await this.#files.remove(recorder.id);
  }

  /** Returns the recordings that a principal may see, the newest first. */
  async list(request: Request<'list_recordings'>, principal: Principal): Promise<Answer<'list_recordings'>> {
    const { limit = DEFAULT_LIMIT, session_id: sessionId } = request;
    const seen = (await this.#files.list()).filter(
      ({ origin }) =>
        canAccess(principal, origin.owner, 'see') && (sessionId === undefined || origin.session_id === sessionId),
    );
    const total = seen.reduce((sum, { bytes }) => sum + bytes, 0);
    return {
      recordings: seen.slice(0, limit).map((summary) => this.#describe(summary)),
      total_bytes: total,
      truncated: seen.length > limit,
    };
  }

  /**
   * Reads bytes of a recording.
   * @throws AdapterError RECORDING_NOT_FOUND
   */
  async read(request: Request<'read_recording'>, principal: Principal): Promise<Answer<'read_recording'>> {
    const { recording_id: id, offset = 0, length = DEFAULT_READ_BYTES } = request;
    const running = this.#running.get(id);
    await running?.flush();
    const { bytes } = await this.#get(id, principal);
    const data = await this.#files.read(id, offset, length);
    const isRunning = running?.isOpen === true;
    return { data, offset, size: bytes, eof: !isRunning && offset + data.length >= bytes };
  }

  /**
   * Deletes a recording.
   * @throws AdapterError RECORDING_NOT_FOUND; INVALID_REQUEST while its session is open; FORBIDDEN for a recording of
   *   another owner, and for one that the configuration demands
   */
  async delete(request: Request<'delete_recording'>, principal: Principal): Promise<Answer<'delete_recording'>> {
    const { recording_id: id } = request;
    const { origin } = await this.#get(id, principal);
    if (!canAccess(principal, origin.owner, 'use')) throw forbidden(`recording ${id}`, principal, 'use');
    if (origin.reason === 'configuration' && principal.role !== 'admin') {
      const message = `recording ${id} was made because of recording.roles: the role admin may delete it`;
      throw new AdapterError('FORBIDDEN', message, { details: { role: principal.role, needs: ['admin'] } });
    }
    if (this.#running.has(id)) {
      const message = `recording ${id} is being made: close session ${origin.session_id} first`;
      throw new AdapterError('INVALID_REQUEST', message, { details: { session_id: origin.session_id } });
    }
    await this.#files.remove(id);
    return { recording_id: id };
  }

  #headerOf(id: string, { id: sessionId, owner, label, shell, cols, rows }: RecordedSession, isConfigured: boolean) {
    return {
      version: 2,
      width: cols,
      height: rows,
      timestamp: Math.floor(Date.now() / 1000),
      ...(label !== undefined && { title: this.#secrets.text(label) }),
      env: { SHELL: shell, TERM: 'xterm-256color' },
      [OWN_KEY]: {
        recording_id: id,
        session_id: sessionId,
        owner: owner.id,
        owner_name: owner.name,
        reason: isConfigured ? 'configuration' : 'request',
      },
    } as const;
  }

  async #get(id: string, principal: Principal): Promise<RecordingSummary> {
    const summary = await this.#files.find(id);
    if (summary && canAccess(principal, summary.origin.owner, 'see')) return summary;
    throw new AdapterError('RECORDING_NOT_FOUND', `there is no recording ${id}`, { details: { recording_id: id } });
  }

  #describe({ header, origin, bytes, durationMs, end }: RecordingSummary): RecordingInfo {
    const running = this.#running.get(origin.recording_id);
    const isRunning = running?.isOpen === true;
    const node = nodeNameIn(origin.session_id);
    return {
      recording_id: origin.recording_id,
      session_id: origin.session_id,
      ...(node !== undefined && { node }),
      owner: origin.owner_name,
      reason: origin.reason,
      title: header.title ?? null,
      started_at: new Date((header.timestamp ?? 0) * 1000).toISOString(),
      duration_ms: Math.round(isRunning ? running.durationMs : durationMs),
      bytes,
      cols: header.width,
      rows: header.height,
      ...(isRunning ? { state: 'recording', detail: null } : endOf(end)),
    };
  }

  async #prune(): Promise<void> {
    try {
      const removed = await this.#files.prune(this.#settings().maxTotalBytes, (id) => this.#running.has(id));
      if (removed.length > 0) this.#log.info('old recordings were deleted', { recordings: removed.length });
    } catch (error) {
      this.#log.warn('old recordings could not be deleted', { error: String(error) });
    }
  }
}

const CUT = 'cut: ';

function endOf(end: string | undefined): Pick<RecordingInfo, 'state' | 'detail'> {
  if (end === undefined)
    return { state: 'interrupted', detail: 'the daemon ended without notice, or the disk was full' };
  return end.startsWith(CUT) ? { state: 'cut', detail: end.slice(CUT.length) } : { state: 'complete', detail: null };
}
