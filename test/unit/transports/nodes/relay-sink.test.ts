import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { eventMessage } from '../../../../src/core/cluster/link-messages.js';
import type { EventPayload } from '../../../../src/core/protocol/results.js';
import { RelaySink } from '../../../../src/transports/gateway-link.js';
import { anyCharacter } from '../../../support/code-points.js';

const WINDOW = 262_144;

/** What a sink sends for an output, and what the other node makes of it. */
function relay(data: string, takesText = true) {
  const sent: { text?: Uint8Array | undefined; payload: unknown }[] = [];
  const sink = new RelaySink({
    ...{ client: 'c', id: 'gate.c', node: 'worker-1', windowBytes: WINDOW, takesText },
    mask: (value) => value,
    emit: (event) => sent.push(event),
  });
  const payload = { session_id: 's', command_id: 'c', seq: 1, stream: 'stdout', data } as unknown;
  sink.send('command_output', payload as EventPayload<'command_output'>);
  return { sent: sent[0]!, payload, received: eventMessage.parse(sent[0]).payload, pending: sink.pendingBytes() };
}

describe('output for another node', () => {
  it('arrives as it is, whatever it has of Unicode and however long it is', () => {
    const unit = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string({ unit: fc.constantFrom('\uD83D', '\uDE00', 'é') }),
    );
    const long = fc.tuple(unit, fc.nat({ max: 200 })).map(([part, times]) => `\uFEFF${part.repeat(times)}`);
    fc.assert(
      fc.property(fc.oneof(unit, long), fc.boolean(), (data, takesText) => {
        const { received, payload } = relay(data, takesText);
        expect(received).toEqual(payload);
      }),
    );
  });

  it('is sent as bytes where it is long, to nodes that take that, and counts the same', () => {
    const data = 'line\n'.repeat(1000);
    const [bytes, json] = [relay(data), relay(data, false)];
    expect(bytes.sent).toMatchObject({ text: Buffer.from(data), payload: { data: '' } });
    expect(json.sent).toMatchObject({ payload: { data } });
    expect(json.sent.text).toBeUndefined();
    expect(bytes.pending).toBe(json.pending);
    expect(relay('short').sent.text).toBeUndefined();
  });
});
