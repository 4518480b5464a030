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

function idFrom(prefix: string, random: Uint8Array | string, node?: IdNode): string {
  const text = typeof random === 'string' ? random : base64Url(random);
  if (text.length !== ID_CHARACTERS) throw new AdapterError('INTERNAL', `an id needs ${ID_BYTES} random bytes`);
  return node === undefined ? `${prefix}_${text}` : `${prefix}_${node}.${text}`;
}

/** Id of a session, `session_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic source. */
export const sessionIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('session', random, node);

/**
 * Id of a command, `command_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic source, or from
 * their base64url.
 */
export const commandIdFrom = (random: Uint8Array | string, node?: IdNode): string => idFrom('command', random, node);

/**
 * Id of a checkpoint, `checkpoint_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic
 * source.
 */
export const checkpointIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('checkpoint', random, node);

/** Id of a watch, `watch_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic source. */
export const watchIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('watch', random, node);

/** Id of a recording, `recording_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic source. */
export const recordingIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('recording', random, node);

/** Id of an LLM call, `call_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic source. */
export const callIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('call', random, node);

/**
 * Id of a token, `token_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic source. Not its
 * secret.
 */
export const tokenIdFrom = (random: Uint8Array): string => idFrom('token', random);

/**
 * Id of a confirmation, `confirmation_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic
 * source.
 */
export const confirmationIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('confirmation', random, node);

/**
 * Id of a remembered approval, `approval_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic
 * source.
 */
export const approvalIdFrom = (random: Uint8Array, node?: IdNode): string => idFrom('approval', random, node);

/** Name of a node of a cluster: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends. */
export const NODE_NAME = /^[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?$/;

/** What a node's name may be, for messages. */
export const NODE_NAME_RULE = '1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends';
