/** Size of a block, in bytes. */
export const BLOCK_BYTES = 256 * 1024;
/** Most blocks that are kept for later: what one spool may have queued for a slow disk, twice. */
const MAX_SPARE_BLOCKS = 16;

/** Blocks of memory on their way to the disk. Fresh memory costs more than the copy into it, and stays until it is collected. */
class BlockPool {
  readonly #spare: Buffer[] = [];

  /** A block with any content. */
  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Takes back blocks that nothing uses any more, or what was used of them. */
  give(blocks: readonly Buffer[]): void {
    for (const { buffer } of blocks) if (this.#spare.length < MAX_SPARE_BLOCKS) this.#spare.push(Buffer.from(buffer));
  }
}

/** The blocks of all spools of the daemon: each is in use for as long as a write takes. */
export const sharedBlocks = new BlockPool();
