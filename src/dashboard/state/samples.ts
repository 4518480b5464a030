import type { Answer } from '../../client/index.js';
import type { HostSample } from './wire.js';

/** Longest time that is kept, in milliseconds: that of the widest chart. */
const KEPT_MS = 3_600_000;

/** Adds samples to those that are kept, in the order of their times; at one time there is one sample. */
export function addSamples(kept: readonly HostSample[], added: readonly HostSample[]): readonly HostSample[] {
  const newest = kept.at(-1);
  const [first] = added;
  // Once a second, one that is newer.
  if (newest && first && added.length === 1 && first.at > newest.at) {
    const from = new Date(Date.parse(first.at) - KEPT_MS).toISOString();
    const start = kept.findIndex(({ at }) => at > from);
    return [...(start === -1 ? [] : kept.slice(start)), first];
  }
  const byTime = new Map([...kept, ...added].map((sample) => [Date.parse(sample.at), sample]));
  const times = [...byTime.keys()].sort((a, b) => a - b);
  const oldest = (times.at(-1) ?? 0) - KEPT_MS;
  return times.filter((at) => at > oldest).flatMap((at) => byTime.get(at) ?? []);
}

/** Turns the columns of a history into samples. */
export function samplesOf(history: Answer<'host_history'>): HostSample[] {
  return history.at.map((at, index) => ({
    at,
    cpu_percent: history.cpu_percent[index] ?? null,
    load1: history.load1[index] ?? 0,
    memory_used_bytes: history.memory_used_bytes[index] ?? 0,
    disk_used_bytes: history.disk_used_bytes[index] ?? null,
    net_rx_bytes_s: history.net_rx_bytes_s[index] ?? null,
    net_tx_bytes_s: history.net_tx_bytes_s[index] ?? null,
    sessions: history.sessions[index] ?? 0,
    commands_running: history.commands_running[index] ?? 0,
    daemon_rss_bytes: history.daemon_rss_bytes[index] ?? 0,
  }));
}
