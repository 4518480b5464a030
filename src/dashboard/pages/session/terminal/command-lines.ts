import type { CommandResult } from '../../../../client/index.js';
import { formatDuration } from '../../../format/time.js';
import type { CommandInfo } from '../../../state/wire.js';

const BOLD_CYAN = '\u001b[1;36m';
const BOLD = '\u001b[1m';
const RED = '\u001b[31m';
const RESET = '\u001b[0m';

/** Most characters of a command in its line. */
const MAX_CHARACTERS = 500;

/** The line of a command in the terminal. */
export function startLine({ command, args = [] }: Pick<CommandInfo, 'command' | 'args'>): string {
  const text = [command, ...args].join(' ');
  const cut = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
  return `${BOLD_CYAN}❯${RESET} ${BOLD}${withoutControls(cut)}${RESET}`;
}

/** The line after a command that has not succeeded; empty for one that has. */
export function endLine(result: EndedCommand): string {
  const { exit_code: code, status, killed_by: killedBy, duration_ms: duration } = result;
  if (code === 0) return '';
  const what = status === 'completed' ? '' : ` ${status.replaceAll('_', ' ')}`;
  const why = killedBy === null ? '' : ` by ${killedBy}`;
  return `${RED}✗ exit ${code ?? '—'}${what}${why}${RESET} after ${formatDuration(duration)}`;
}

/** The fields of a result, or of a command info, about the end. */
export type EndedCommand = Pick<CommandResult, 'exit_code' | 'status' | 'killed_by' | 'duration_ms'>;

/** A text with symbols for control characters: a command must not be able to change how the terminal shows it. */
function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is replaced
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => {
    const code = character.charCodeAt(0);
    if (character === '\n') return '⏎ ';
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '�';
  });
}
