/** How directories are held open, so that paths lead through them. */
export interface Directories {
  /** Flags of open(2) for a directory that is only passed: where that exists, no permission to list it is needed. */
  readonly passFlags: number;
  /**
   * Returns the beginning of paths to the entries of an open directory. With `heldPaths`, they lead there whatever is
   * moved or linked to its path meanwhile.
   * @param path where the descriptor was opened, without links
   */
  readonly rootOf: (fd: number, path: string) => string;
  /** Returns the path of an open directory after all links; undefined when it is not at `path` any more, or is gone. */
  readonly placeOf: (fd: number, path: string) => Promise<string | undefined>;
}
