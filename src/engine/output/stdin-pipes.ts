import { join } from 'node:path';

import type { ProcessDirectory } from '../instance/runtime-directory.js';
import { StdinPipe } from './stdin-pipe.js';

/** Creates pipes for streamed standard input, in the runtime directory. */
export class StdinPipes {
  readonly #runtime: ProcessDirectory;
  #count = 0;

  constructor(runtime: ProcessDirectory) {
    this.#runtime = runtime;
  }

  /** Returns a pipe for one command. Its FIFO is created when the command is about to start. */
  next(): StdinPipe {
    this.#runtime.ensure();
    this.#count += 1;
    return new StdinPipe(join(this.#runtime.path, 'stdin', String(this.#count)), this.#runtime.owner);
  }
}
