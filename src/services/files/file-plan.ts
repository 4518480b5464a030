import type { Answer, Request, RequestName } from '../../core/protocol/requests.js';
import type { fileSearchRequests } from '../../core/protocol/requests/file-search.js';
import type { fileRequests } from '../../core/protocol/requests/files.js';
import type { SecretMask } from '../../core/secrets.js';
import type { FilePerformer, FileState, Target } from '../../engine/files/file-job.js';
import type { JudgedFileRequest } from '../gate/file-gate.js';
import type { FilePlace } from './file-place.js';

/** Name of a request about files. */
export type FileRequestName = Extract<RequestName, keyof typeof fileRequests | keyof typeof fileSearchRequests>;

/** A request about files, ready to be judged and done. */
export interface FilePlan<N extends FileRequestName> extends JudgedFileRequest {
  /** What it is about; of a move, what is moved. */
  readonly at: Target;
  /** Bytes that it writes. */
  readonly writes: number;
  perform(performer: FilePerformer): Promise<Answer<N>>;
  /** The answer while nothing has been done. */
  readonly nothing: Answer<N>;
}

/** Plans a request. */
export type FilePlanner<N extends FileRequestName> = (
  request: Request<N>,
  place: FilePlace,
  secrets: SecretMask,
) => Promise<FilePlan<N>>;

/** The paths of a target for the policy: as asked for, and where it leads, if that is known and something else. */
export const pathsOf = ({ path, real }: Target): readonly string[] =>
  real === undefined || real === path ? [path] : [path, real];

/** Facts about a file in wire format. */
export const stateOf = ({ size, sha256, mtimeMs }: FileState) => ({
  size,
  sha256: sha256 ?? null,
  mtime_ms: mtimeMs,
});

/** The same while nothing is known. */
export const NO_STATE = { size: 0, sha256: null, mtime_ms: 0 } as const;

const OCTAL = 8;

/** Permissions of a request. */
export const permissionsOf = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number.parseInt(digits, OCTAL);

/** Permissions in wire format. */
export const modeText = (mode: number): string => mode.toString(OCTAL).padStart(3, '0');
