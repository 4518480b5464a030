import { AdapterError } from './errors.js';
import { base64Url } from './output/base64.js';

/** Random bytes of an id: as many as in a UUID, which rules out guessing and collisions. */
export const ID_BYTES = 16;

function idFrom(prefix: string, random: Uint8Array): string {
  if (random.length !== ID_BYTES) throw new AdapterError('INTERNAL', `an id needs ${ID_BYTES} random bytes`);
  return `${prefix}_${base64Url(random)}`;
}

/** Id of a session, `session_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic source. */
export const sessionIdFrom = (random: Uint8Array): string => idFrom('session', random);

/** Id of a command, `command_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic source. */
export const commandIdFrom = (random: Uint8Array): string => idFrom('command', random);

/**
 * Id of a checkpoint, `checkpoint_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic
 * source.
 */
export const checkpointIdFrom = (random: Uint8Array): string => idFrom('checkpoint', random);

/** Id of an LLM call, `call_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic source. */
export const callIdFrom = (random: Uint8Array): string => idFrom('call', random);

/**
 * Id of a token, `token_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic source. Not its
 * secret.
 */
export const tokenIdFrom = (random: Uint8Array): string => idFrom('token', random);

/**
 * Id of a confirmation, `confirmation_` and 22 characters of base64url, from `ID_BYTES` bytes of a cryptographic
 * source.
 */
export const confirmationIdFrom = (random: Uint8Array): string => idFrom('confirmation', random);
