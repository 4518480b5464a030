import { callIdFrom, commandIdFrom, ID_BYTES } from '../../core/ids.js';

/** A new id for a command: 128 bits of Web Crypto, never met twice. */
export const randomCommandId = (): string => commandIdFrom(crypto.getRandomValues(new Uint8Array(ID_BYTES)));

/** A new id for a call of an LLM, likewise. */
export const randomCallId = (): string => callIdFrom(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
