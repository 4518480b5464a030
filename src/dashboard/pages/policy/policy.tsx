import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import type { Answer, RequestInput } from '../../../client/index.js';
import { Badge } from '../../components/badge.js';
import { SafeText } from '../../components/command/command-text.js';
import { JudgedCommands, VERDICTS } from '../../components/command/judged-commands.js';
import { PageHead } from '../../components/page-head.js';
import { Panel } from '../../components/panel.js';
import { Empty, Loading, Problem } from '../../components/states.js';
import { useAnswer } from '../../state/use-answer.js';
import { useDraft } from '../../state/use-draft.js';
import { PolicyForm } from './policy-form.js';

import './policy.css';

/** How long a check waits for the next key, in milliseconds. */
const DEBOUNCE_MS = 250;

/** What the policy says about a command, without running it. */
export function Policy(): JSX.Element {
  const text = useDraft('policy command');
  const session = useDraft('policy session');
  const directory = useDraft('policy directory');
  const question = useDebounced(questionOf(text.value, session.value, directory.value));
  return (
    <>
      <PageHead title="Policy" />
      <Panel title="Try a command">
        <PolicyForm text={text} session={session} directory={directory} />
      </Panel>
      <Panel title="Verdict">
        {question ? (
          <Verdict question={question} />
        ) : (
          <Empty title="Nothing to judge yet">Type a command. Nothing is run, and nothing is recorded.</Empty>
        )}
      </Panel>
    </>
  );
}

type Question = RequestInput<'check_command'>;

/** An empty text is no question. It is sent as it is typed: spaces and line ends count. */
function questionOf(command: string, session: string, directory: string): Question | undefined {
  if (command.trim() === '') return undefined;
  return {
    command,
    ...(session !== '' && { session_id: session }),
    ...(directory.trim() !== '' && { cwd: directory.trim() }),
  };
}

/** The last value that has stayed for long enough. */
function useDebounced(question: Question | undefined): Question | undefined {
  const settled = useSignal(question);
  const key = JSON.stringify(question);
  useEffect(() => {
    const timer = setTimeout(() => {
      settled.value = question;
    }, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return settled.value;
}

function Verdict({ question }: { readonly question: Question }): JSX.Element {
  const { value, problem } = useAnswer('check_command', question);
  if (problem !== undefined) return <Problem title="It cannot be judged">{problem}</Problem>;
  return value ? <Judgement answer={value} /> : <Loading what="the verdict" />;
}

function Judgement({ answer }: { readonly answer: Answer<'check_command'> }): JSX.Element {
  const [, tone, sentence] = VERDICTS[answer.action];
  return (
    <div class="panel-body">
      <p class={`verdict ${tone}`} role="status">
        <strong>{sentence}</strong>
        <Badge>{answer.class}</Badge>
      </p>
      {answer.enforced ? null : (
        <p class="muted">
          This daemon has nothing confirmed (<code>confirmation.mode: off</code>): commands run whatever the verdict.
        </p>
      )}
      <section aria-label="Judged commands">
        <h3 class="policy-title">Every command in it</h3>
        <JudgedCommands commands={answer.commands} />
      </section>
      <Reasons reasons={answer.reasons} />
    </div>
  );
}

const Reasons = ({ reasons }: { readonly reasons: readonly string[] }): JSX.Element | null =>
  reasons.length === 0 ? null : (
    <section aria-label="Reasons">
      <h3 class="policy-title">Reasons, the worst first</h3>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>
            <SafeText text={reason} />
          </li>
        ))}
      </ul>
    </section>
  );
