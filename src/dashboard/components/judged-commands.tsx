import './judged-commands.css';

import type { JSX } from 'preact';

import type { JudgedCommand } from '../state/wire.js';
import { Badge, type Tone } from './badge.js';
import { CommandText, SafeText } from './command-text.js';

/** A judged command with those that its text contains. */
interface JudgedNode {
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

/** What the policy does, in words, and its colour. */
export const VERDICTS: {
  readonly [A in JudgedCommand['action']]: readonly [short: string, tone: Tone, sentence: string];
} = {
  allow: ['allowed', 'good', 'It runs without a question.'],
  checkpoint: ['saved first', 'info', 'It runs after the workspace was saved as a checkpoint.'],
  confirm: ['to confirm', 'warn', 'It has to be confirmed before it runs.'],
  deny: ['refused', 'bad', 'It is refused.'],
};

/** The simple commands of a request with their verdicts; those within another are below it. */
export const JudgedCommands = ({ commands }: { readonly commands: readonly JudgedCommand[] }): JSX.Element => (
  <Nodes nodes={judgedTree(commands)} />
);

const Nodes = ({ nodes }: { readonly nodes: readonly JudgedNode[] }): JSX.Element => (
  <ul class="judged">
    {nodes.map(({ command, children }, index) => (
      <li key={index}>
        <Judged command={command} />
        {children.length > 0 ? <Nodes nodes={children} /> : null}
      </li>
    ))}
  </ul>
);

const Judged = ({ command: { command, action, class: name, reasons } }: { readonly command: JudgedCommand }) => (
  <div class="judged-command">
    <span class="judged-badges">
      <Badge tone={VERDICTS[action][1]}>{VERDICTS[action][0]}</Badge>
      <Badge>{name}</Badge>
    </span>
    <div>
      <CommandText command={command} />
      {reasons.length > 0 ? (
        <ul class="judged-reasons">
          {reasons.map((reason) => (
            <li key={reason}>
              <SafeText text={reason} />
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  </div>
);
