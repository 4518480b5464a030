import type { JudgedCommand } from '../../state/wire.js';

/** A judged command with those that its text contains. */
export interface JudgedNode {
  readonly command: JudgedCommand;
  readonly children: readonly JudgedNode[];
}

/** Arranges judged commands: one whose text is part of a longer one is below the shortest such. */
export function judgedTree(commands: readonly JudgedCommand[]): readonly JudgedNode[] {
  const parents = commands.map((command) => parentOf(command, commands));
  const nodesBelow = (parent: JudgedCommand | undefined): readonly JudgedNode[] =>
    commands
      .filter((_command, index) => parents[index] === parent)
      .map((command) => ({ command, children: nodesBelow(command) }));
  return nodesBelow(undefined);
}

function parentOf({ command: text }: JudgedCommand, commands: readonly JudgedCommand[]): JudgedCommand | undefined {
  const around = commands.filter(({ command }) => command.length > text.length && command.includes(text));
  return around.sort((a, b) => a.command.length - b.command.length)[0];
}
