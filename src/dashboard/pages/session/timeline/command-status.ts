import type { Tone } from '../../../components/badge.js';
import type { CommandInfo } from '../../../state/wire.js';

/** How a command stands, in words and as a tone. */
export function statusOf(info: CommandInfo): { readonly text: string; readonly tone: Tone } {
  const { state, status, exit_code: code, killed_by: killedBy } = info;
  if (state === 'queued') return { text: 'queued', tone: 'neutral' };
  if (status === 'confirmation_required') return { text: 'waits for confirmation', tone: 'warn' };
  if (state === 'running') return { text: 'running', tone: 'info' };
  if (status === 'denied') return { text: 'denied', tone: 'bad' };
  if (code === 0) return { text: 'exit 0', tone: 'good' };
  const why = killedBy === null ? '' : `, ${killedBy}`;
  const how = status === 'completed' ? '' : ` ${status.replaceAll('_', ' ')}`;
  return { text: `exit ${code ?? '—'}${how}${why}`, tone: 'bad' };
}
