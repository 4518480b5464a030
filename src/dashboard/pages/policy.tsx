import './policy.css';

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import type { Answer, RequestInput } from '../../client/index.js';
import { Badge } from '../components/badge.js';
import { SafeText } from '../components/command-text.js';
import { JudgedCommands, VERDICTS } from '../components/judged-commands.js';
import { PageHead, Panel } from '../components/panel.js';
import { Empty, Loading, Problem } from '../components/states.js';
import { TextField } from '../components/text-field.js';
import { useDashboard } from '../state/context.js';
import { useAnswer, useDraft } from '../state/use-answer.js';

interface PolicyFormProps {
  readonly text: Signal<string>;
  /** Id of a session; empty for none. */
  readonly session: Signal<string>;
  readonly directory: Signal<string>;
}

/** A command, and where it would run. */
const PolicyForm = ({ text, session, directory }: PolicyFormProps): JSX.Element => (
  <div class="panel-body">
    <label class="field">
      <span>Command</span>
      <textarea
        class="mono policy-command"
        rows={4}
        spellcheck={false}
        autoComplete="off"
        placeholder="git clean -fdx && rm -rf ~/cache"
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
    </label>
    <div class="policy-place">
      <SessionField session={session} />
      <TextField label="Directory (by default that of the session)" text={directory} />
    </div>
  </div>
);

function SessionField({ session }: Pick<PolicyFormProps, 'session'>): JSX.Element {
  const { live } = useDashboard();
  const sessions = [...(live.sessions.value?.values() ?? [])];
  return (
    <label class="field">
      <span>Session: its directory, aliases and functions count</span>
      <select
        value={session.value}
        onChange={({ currentTarget }) => {
          session.value = currentTarget.value;
        }}
      >
        <option value="">none</option>
        {sessions.map(({ session_id: id, label, owner }) => (
          <option key={id} value={id}>
            {`${label ?? id} (${owner})`}
          </option>
        ))}
      </select>
    </label>
  );
}

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
