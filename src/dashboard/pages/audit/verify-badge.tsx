import type { JSX } from 'preact';

import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { SafeText } from '../../components/command/command-text.js';
import { formatClock } from '../../format/time.js';
import { countOf } from '../../format/words.js';
import { type LoadedAnswer, useAnswer } from '../../state/use-answer.js';
import type { Answer } from '../../../client/index.js';

/**
 * Whether the log is as it was written, and when that was checked.
 * @param node of a cluster; by default the one that the page is connected to
 */
export function VerifyBadge({ node }: { readonly node: string | undefined }): JSX.Element {
  const verified = useAnswer('verify_audit', { node });
  const { value, isLoading, reload } = verified;
  return (
    <>
      <Verdict verified={verified} />
      <Button onPress={reload} whyNot={isLoading ? 'It is being verified.' : undefined}>
        Verify again
      </Button>
      {value?.ok === false ? (
        <ul class="audit-problems" role="alert">
          {value.problems.map((problem) => (
            <li key={problem}>
              <SafeText text={problem} />
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

function Verdict({ verified: { value, problem } }: { readonly verified: LoadedAnswer<Answer<'verify_audit'>> }) {
  if (problem !== undefined) return <Badge tone="warn">{`not verified: ${problem}`}</Badge>;
  if (!value) return <Badge>verifying…</Badge>;
  const at = formatClock(Date.parse(value.checked_at));
  if (!value.ok) return <Badge tone="bad">{`Tampered with or damaged · ${at}`}</Badge>;
  return <Badge tone="good">{`Verified: ${countOf(value.records, 'record')} · ${at}`}</Badge>;
}
