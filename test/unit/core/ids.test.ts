import { describe, expect, it } from 'vitest';

import { commandIdFrom, ID_BYTES, sessionIdFrom } from '../../../src/core/ids.js';
import { commandId, sessionId } from '../../../src/core/protocol/fields.js';

describe('ids', () => {
  const ones = new Uint8Array(ID_BYTES).fill(0xff);

  it('are their kind and 22 characters of base64url', () => {
    expect(sessionIdFrom(ones)).toBe(`session_${'_'.repeat(21)}w`);
    expect(commandIdFrom(new Uint8Array(ID_BYTES))).toBe(`command_${'A'.repeat(22)}`);
  });

  it('are what the protocol takes', () => {
    expect(sessionId.safeParse(sessionIdFrom(ones)).success).toBe(true);
    expect(commandId.safeParse(commandIdFrom(ones)).success).toBe(true);
  });

  it('are not made of fewer random bytes', () => {
    expect(() => sessionIdFrom(new Uint8Array(8))).toThrow(/random bytes/u);
  });
});
