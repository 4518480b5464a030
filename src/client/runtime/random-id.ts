import { callIdFrom, commandIdFrom, ID_BYTES } from '../../core/ids.js';

/** Creates an id for a command: 128 bits of Web Crypto, unique in practice. */
export const randomCommandId = (): string => commandIdFrom(crypto.getRandomValues(new Uint8Array(ID_BYTES)));

/** Creates an id for an LLM call, in the same way. */
export const randomCallId = (): string => callIdFrom(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
