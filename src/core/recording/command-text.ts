/** Longest label of a marker, in characters. */
const MAX_LABEL = 200;

/** Control characters, which could change the screen of a player. */
const CONTROL = /[^\P{Cc}\t\n]/gu;

/** Label of the marker of a command: one line. */
export function markerLabel(command: string): string {
  const line = command.replaceAll(/\s+/gu, ' ').replaceAll(CONTROL, '\ufffd').trim();
  const characters = Array.from(line);
  return characters.length > MAX_LABEL ? `${characters.slice(0, MAX_LABEL - 1).join('')}…` : line;
}

/** A command as a terminal would have shown it, had it been typed: commands of a session are not typed. */
export function promptLine(command: string): string {
  const shown = command.replaceAll('\r\n', '\n').replaceAll(CONTROL, '\ufffd').replaceAll('\n', '\r\n> ');
  return `\x1b[1m$\x1b[0m ${shown}\r\n`;
}
