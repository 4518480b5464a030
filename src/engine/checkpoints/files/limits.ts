/** Limits of checkpoints, from the configuration. */
export interface CheckpointLimits {
  /** Largest number of files and directories of a workspace. */
  readonly maxFiles: number;
  /** Largest size of a file, in bytes; larger files are left out. */
  readonly maxFileBytes: number;
  /** Largest total size of the files of a workspace, in bytes. */
  readonly maxWorkspaceBytes: number;
  /** Largest number of checkpoints that are kept. */
  readonly maxCount: number;
  /** Largest disk use of the checkpoints of a workspace, in bytes. */
  readonly maxStoreBytes: number;
}
