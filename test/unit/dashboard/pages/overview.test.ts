import { describe, expect, it } from 'vitest';

import type { SessionInfo } from '../../../../src/client/index.js';
import { columnsOf, HOST_CARDS, samplesSince } from '../../../../src/dashboard/pages/overview/host-panel.js';
import { filterSessions, parseFilters, toggleFilter } from '../../../../src/dashboard/pages/overview/sessions-table.js';
import { addSamples } from '../../../../src/dashboard/state/live.js';
import type { HostSample } from '../../../../src/dashboard/state/wire.js';

const sample = (seconds: number, cpu: number | null = 1): HostSample => ({
  at: new Date(seconds * 1000).toISOString(),
  cpu_percent: cpu,
  load1: 0.5,
  memory_used_bytes: 1024,
  disk_used_bytes: null,
  net_rx_bytes_s: null,
  net_tx_bytes_s: 2048,
  sessions: 2,
  commands_running: 1,
  daemon_rss_bytes: 4096,
});

const session = (fields: Partial<SessionInfo>) =>
  ({ session_id: 's', label: null, owner: 'local', warnings: [], running_command: null, ...fields }) as SessionInfo;

describe('the values of the machine', () => {
  it('are kept for an hour, in order, one for each time', () => {
    const kept = addSamples([sample(10, 1), sample(20, 2)], [sample(3700, 4), sample(20, 3)]);
    expect(kept.map(({ at, cpu_percent: cpu }) => [Date.parse(at) / 1000, cpu])).toEqual([[3700, 4]]);
    expect(addSamples([sample(10), sample(50)], [sample(3620)])).toEqual([sample(50), sample(3620)]);
    expect(addSamples([sample(20, 2)], [sample(10), sample(20, 3)])).toEqual([sample(10), sample(20, 3)]);
  });

  it('are columns for a chart, from a time on', () => {
    const network = HOST_CARDS.find(({ title }) => title === 'Network');
    expect(network && columnsOf(samplesSince([sample(1), sample(2), sample(3)], 2000), network)).toEqual([
      [2, 3],
      [null, null],
      [2048, 2048],
    ]);
  });
});

describe('the filters of sessions', () => {
  it('have to be passed all, with the text', () => {
    const sessions = [
      session({ session_id: 'a', state: 'busy', label: 'Build' }),
      session({ session_id: 'b', state: 'busy', owner: 'ci', working_directory: '/srv/build' }),
      session({ session_id: 'c', state: 'idle' }),
    ];
    const ids = (show: string, wanted: string) =>
      filterSessions(sessions, { filters: parseFilters(show), text: wanted, node: undefined, caller: 'ci' }).map(
        (one) => one.session_id,
      );
    expect(ids('', '')).toEqual(['a', 'b', 'c']);
    expect(ids('busy', 'BUILD')).toEqual(['a', 'b']);
    expect(ids('busy,mine', '')).toEqual(['b']);
    expect(toggleFilter(parseFilters('busy,mine'), 'busy')).toBe('mine');
    expect(toggleFilter(parseFilters(''), 'idle')).toBe('idle');
  });

  it('of a cluster are those of a node', () => {
    const sessions = [
      session({ session_id: 'a', node: 'node-2', state: 'busy' }),
      session({ session_id: 'b', node: 'node-1', state: 'busy' }),
      session({ session_id: 'c', node: 'node-2', state: 'idle' }),
    ];
    const ids = (node: string | undefined, show = '') =>
      filterSessions(sessions, { filters: parseFilters(show), text: '', node, caller: 'ci' }).map(
        (one) => one.session_id,
      );
    expect([ids(undefined), ids('node-2'), ids('node-2', 'busy'), ids('node-3')]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'c'],
      ['a'],
      [],
    ]);
  });
});
