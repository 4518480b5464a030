/** Bounds of checkpoints, from the configuration. */
export interface CheckpointLimits {
  /** Files and directories that a workspace may have. */
  readonly maxFiles: number;
  /** A larger file is left out. */
  readonly maxFileBytes: number;
  /** What the files of a workspace may have together. */
  readonly maxWorkspaceBytes: number;
  /** Checkpoints that are kept. */
  readonly maxCount: number;
  /** What the checkpoints of a workspace may take on the disk. */
  readonly maxStoreBytes: number;
}
