import { hostname } from 'node:os';

import type { Configuration } from '../../config/model/configuration.js';
import { incarnationFrom, nodeIdFrom } from '../../core/cluster/node-id.js';
import { ID_BYTES } from '../../core/ids.js';
import { NODE_NAME } from '../../core/node-name.js';
import { randomBytes } from '../../engine/system/random.js';

/** This run of a node, as ids and other nodes name it. */
export interface OwnNode {
  readonly name: string;
  /** `name-incarnation`. */
  readonly id: string;
  readonly incarnation: string;
}

/** Longest name of a node, in characters. */
const MAX_NAME = 24;

/** Names this run of the daemon; undefined for a daemon alone. */
export function nameNode({ cluster }: Configuration): OwnNode | undefined {
  if (!cluster.enabled) return undefined;
  const name = cluster.name ?? nameFrom(hostname());
  const incarnation = incarnationFrom(randomBytes(ID_BYTES));
  return { name, incarnation, id: nodeIdFrom(name, incarnation) };
}

/** A name of a machine as that of a node. */
function nameFrom(machine: string): string {
  const name = machine
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_NAME)
    .replaceAll(/^-+|-+$/g, '');
  return NODE_NAME.test(name) ? name : 'node';
}
