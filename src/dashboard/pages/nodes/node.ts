import type { Answer } from '../../../client/index.js';

/** A node in wire format. */
export type Node = Answer<'list_nodes'>['nodes'][number];
