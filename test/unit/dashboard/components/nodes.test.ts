import { describe, expect, it } from 'vitest';

import type { Answer } from '../../../../src/client/index.js';
import { isOnNode, namesOf, workingNode } from '../../../../src/dashboard/components/nodes.js';

type Node = Answer<'list_nodes'>['nodes'][number];

const listed = [
  { node: 'worker-2', role: 'worker' },
  { node: 'gate', role: 'gateway' },
] as Node[];

describe('the nodes that a page can choose from', () => {
  it('run sessions: they are listed, named by entries, or chosen already', () => {
    const entries = [{ node: 'worker-1' }, { node: 'worker-2' }, {}];
    expect(namesOf(listed, entries, { own: 'gate', chosen: undefined })).toEqual(['worker-1', 'worker-2']);
    expect(namesOf([], entries, { own: 'gate', chosen: 'gone' })).toEqual(['gone', 'worker-1', 'worker-2']);
    expect(namesOf([], [], { own: 'gate', chosen: 'gate' })).toEqual([]);
  });

  it('are that of the address, or else the own one if it runs sessions, or else the first', () => {
    const names = ['node-1', 'node-2'];
    expect(workingNode({ own: 'node-2', names, chosen: undefined })).toBe('node-2');
    expect(workingNode({ own: 'node-2', names, chosen: 'node-1' })).toBe('node-1');
    expect(workingNode({ own: 'gate', names, chosen: undefined })).toBe('node-1');
    expect(workingNode({ own: 'gate', names: [], chosen: undefined })).toBeUndefined();
  });

  it('have what names them; without a choice everything is shown', () => {
    expect([{ node: 'a' }, { node: 'b' }, {}].map((entry) => isOnNode(entry, 'a'))).toEqual([true, false, false]);
    expect([{ node: 'a' }, {}].map((entry) => isOnNode(entry, undefined))).toEqual([true, true]);
  });
});
