import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import { randomText } from '../../engine/system/random.js';

/** Creates an id for a command whose client gives none. */
export const newCommandId = (): string => commandIdFrom(randomText(ID_BYTES));
