import { commandIdFrom, ID_BYTES } from '../core/ids.js';

/** A new id for a command: 128 bits of Web Crypto, never met twice. */
export const randomCommandId = (): string => commandIdFrom(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
