import { AdapterError } from './errors.js';
import { base64Url } from './output/utf8.js';

/** Random bytes of an id: as many as in a UUID, which rules out guessing and collisions. */
export const ID_BYTES = 16;

/** Characters of base64url for `ID_BYTES` bytes. */
const ID_CHARACTERS = Math.ceil((ID_BYTES * 8) / 6);

/**
 * The node that the ids of a daemon name, `NODE.` before the random part: what holds an object of a cluster. Undefined
 * for a daemon alone.
 */
type IdNode = string | undefined;

/** What services that make ids have among their options. */
export interface IdOptions {
  /** The node that the ids name. */
  readonly node?: IdNode;
}

/** An id: what it is of, and the base64url of `ID_BYTES` bytes of a cryptographic source, or what already is that. */
function idFrom(prefix: string, random: Uint8Array | string, node?: IdNode): string {
  const text = typeof random === 'string' ? random : base64Url(random);
  if (text.length !== ID_CHARACTERS) throw new AdapterError('INTERNAL', `an id needs ${ID_BYTES} random bytes`);
  return node === undefined ? `${prefix}_${text}` : `${prefix}_${node}.${text}`;
}

export const sessionIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('session', random, node);
export const commandIdFrom = (random: Uint8Array | string, node?: IdNode): string => idFrom('command', random, node);
export const checkpointIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('checkpoint', random, node);
export const watchIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('watch', random, node);
export const recordingIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('recording', random, node);
export const callIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('call', random, node);
export const tokenIdFrom = (random: Uint8Array): string => idFrom('token', random);
export const confirmationIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('confirmation', random, node);
export const approvalIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('approval', random, node);

/** Name of a node of a cluster: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends. */
export const NODE_NAME = /^[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?$/;

/** What a node's name may be, for messages. */
export const NODE_NAME_RULE = '1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends';
