import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { incarnationFrom, nameOfNode, nodeIdFrom, nodeOf } from '../../../../src/core/cluster/address.js';
import { checkpointIdFrom, commandIdFrom, ID_BYTES, NODE_NAME, sessionIdFrom } from '../../../../src/core/ids.js';
import { commandId } from '../../../../src/core/protocol/fields.js';

const random = fc.uint8Array({ minLength: ID_BYTES, maxLength: ID_BYTES });
const name = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?$/);

describe('the node of an id', () => {
  it('is found in each id that a node makes, with its run', () => {
    fc.assert(
      fc.property(name, random, random, (node, run, bytes) => {
        const id = nodeIdFrom(node, incarnationFrom(run));
        for (const make of [sessionIdFrom, commandIdFrom]) expect(nodeOf(make(bytes, id))).toBe(id);
        expect(nameOfNode(id)).toBe(node);
      }),
    );
  });

  it('is a name alone in the id of a checkpoint', () => {
    fc.assert(
      fc.property(name, random, (node, bytes) => {
        expect(nodeOf(checkpointIdFrom(bytes, node))).toBe(node);
      }),
    );
  });

  it('is none in an id of a daemon alone', () => {
    fc.assert(
      fc.property(random, (bytes) => {
        expect(nodeOf(sessionIdFrom(bytes))).toBeUndefined();
      }),
    );
  });

  it('keeps the id of a command within what clients may choose', () => {
    fc.assert(
      fc.property(name, random, random, (node, run, bytes) => {
        const id = commandIdFrom(bytes, nodeIdFrom(node, incarnationFrom(run)));
        expect(commandId.safeParse(id).success).toBe(true);
      }),
    );
  });

  it.each([
    'build.1',
    'command_',
    'session_a.short',
    `session_-a.${'x'.repeat(22)}`,
    `session_A.${'x'.repeat(22)}`,
    `session_a.b.${'x'.repeat(22)}`,
    `session_${'a'.repeat(33)}.${'x'.repeat(22)}`,
  ])('is none in %s', (id) => {
    expect(nodeOf(id)).toBeUndefined();
  });
});

describe('the name of a node', () => {
  it.each(['a', 'worker-1', '0', 'a'.repeat(24)])('may be %s', (text) => {
    expect(NODE_NAME.test(text)).toBe(true);
  });

  it.each(['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a'.repeat(25)])('may not be %j', (text) => {
    expect(NODE_NAME.test(text)).toBe(false);
  });
});
