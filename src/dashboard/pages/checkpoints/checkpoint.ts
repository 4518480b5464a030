import type { Answer } from '../../../client/index.js';

/** A checkpoint of the workspace. */
export type Checkpoint = Answer<'list_checkpoints'>['checkpoints'][number];
