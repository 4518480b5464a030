import type { JSX } from 'preact';

import type { ConfirmationInfo } from '../../../client/index.js';
import { SafeText } from '../../components/command/command-text.js';
import { JudgedCommands } from '../../components/command/judged-commands.js';
import { type Fact, Facts } from '../../components/facts.js';
import { hrefOf } from '../../router/route.js';

const DECIDERS: { readonly [R in ConfirmationInfo['requires']]: string } = {
  self: 'the client itself, with a reason',
  llm: 'a model',
  operator: 'an operator',
};

/** Facts that a decision needs: where it runs, with what, and how the policy judges each part. */
export const CardFacts = ({ info }: { readonly info: ConfirmationInfo }): JSX.Element => (
  <>
    <Facts facts={[...placeOf(info), ...inputsOf(info)]} />
    <Reasons info={info} />
  </>
);

const placeOf = (info: ConfirmationInfo): readonly Fact[] => [
  [
    'Directory',
    <code>
      <SafeText text={info.working_directory} />
    </code>,
  ],
  [
    'Session',
    info.session_id === null ? (
      'none: a command of its own'
    ) : (
      <a href={hrefOf('sessions', [info.session_id])}>
        <SafeText text={info.session_label ?? info.session_id} />
      </a>
    ),
  ],
  // Of a cluster.
  ['Node', info.node],
  ['Decided by', DECIDERS[info.requires]],
];

const inputsOf = ({ env, stdin }: ConfirmationInfo): readonly Fact[] => [
  [
    'Variables',
    env && (
      <ul>
        {Object.entries(env).map(([name, value]) => (
          <li key={name}>
            <code>
              <SafeText text={`${name}=${value}`} />
            </code>
          </li>
        ))}
      </ul>
    ),
  ],
  [
    'Standard input',
    stdin === undefined || stdin === '' ? undefined : (
      <pre class="command-text">
        <SafeText text={stdin} />
      </pre>
    ),
  ],
];

/** The parts of a command; a single one repeats the command itself, and has its reasons alone. */
function Reasons({ info: { commands, reasons, command } }: { readonly info: ConfirmationInfo }): JSX.Element {
  const [first, ...others] = commands;
  const isWhole = others.length === 0 && (first === undefined || first.command.trim() === command.trim());
  return (
    <section aria-label="Verdict of the policy">
      <h3 class="confirmation-why">Why it has to be confirmed</h3>
      {isWhole ? (
        <ul class="judged-reasons">
          {reasons.map((reason) => (
            <li key={reason}>
              <SafeText text={reason} />
            </li>
          ))}
        </ul>
      ) : (
        <JudgedCommands commands={commands} />
      )}
    </section>
  );
}
