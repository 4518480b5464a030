import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { ClientError } from '../../../client/index.js';
import { Button, TwoStepButton } from '../../components/button.js';
import { Icon } from '../../components/icon.js';
import { saveFile } from '../../components/save-file.js';
import { Empty, Loading, Problem } from '../../components/states.js';
import { Ago } from '../../components/time.js';
import { Toolbar } from '../../components/toolbar.js';
import { formatBytes, formatPercent } from '../../format/size.js';
import { hrefOf } from '../../router/route.js';
import type { Access } from '../../state/access.js';
import { useDashboard } from '../../state/context.js';
import { PlayerView } from './player-view.js';
import { type ReadRecording, readRecording } from './read-recording.js';
import { type Recording, StateBadge } from './recording-list.js';

const PERCENT = 100;

/** One recording, and its player. */
export function RecordingPage({ id }: { readonly id: string }): JSX.Element {
  const { connection } = useDashboard();
  const read = useSignal<ReadRecording | undefined>(undefined);
  const part = useSignal(0);
  const problem = useSignal<unknown>(undefined);
  useEffect(() => {
    readRecording(connection, id, (now) => (part.value = now)).then(
      (found) => (read.value = found),
      (error: unknown) => (problem.value = error),
    );
  }, []);
  if (problem.value !== undefined) return <Failed id={id} error={problem.value} />;
  if (!read.value) return <Loading what={`the recording, ${formatPercent(part.value * PERCENT)}`} />;
  const { info, cast, file } = read.value;
  return (
    <>
      <h1>{info.title ?? 'Recording'}</h1>
      <Facts info={info} />
      <PlayerView cast={cast}>
        <Actions info={info} file={file} />
      </PlayerView>
    </>
  );
}

function Failed({ id, error }: { readonly id: string; readonly error: unknown }): JSX.Element {
  const list = <a href={hrefOf('recordings')}>All recordings</a>;
  const isMissing = error instanceof ClientError && error.code === 'RECORDING_NOT_FOUND';
  return (
    <>
      <h1>Recording</h1>
      {isMissing ? (
        <Empty title="There is no such recording">
          {`${id} is not known, or was deleted. `}
          {list}
        </Empty>
      ) : (
        <Problem title="It cannot be played">
          {`${(error as Error).message}. `}
          {list}
        </Problem>
      )}
    </>
  );
}

function Facts({ info }: { readonly info: Recording }): JSX.Element {
  const { live } = useDashboard();
  const isOpen = live.sessions.value?.has(info.session_id) === true;
  return (
    <p class="recording-facts">
      <StateBadge recording={info} />
      <span>{info.owner}</span>
      <Ago at={info.started_at} />
      <span>{formatBytes(info.bytes)}</span>
      {isOpen ? <a href={hrefOf('sessions', [info.session_id])}>Session</a> : null}
      {info.detail === null ? null : <span>{info.detail}</span>}
    </p>
  );
}

/** Why a recording cannot be deleted; undefined when it can. */
function whyNotDelete(access: Access, { owner, state, reason }: Recording): string | undefined {
  const refused = access.whyNotOf('delete_recording', owner, 'use');
  if (refused !== undefined) return refused;
  if (state === 'recording') return 'Its session is open: close it first.';
  const isAdmin = access.info.value?.role === 'admin';
  return reason === 'configuration' && !isAdmin
    ? 'The configuration demands it: the role admin may delete it.'
    : undefined;
}

function Actions({ info, file }: { readonly info: Recording; readonly file: Blob }): JSX.Element {
  const { access, connection, notices, router } = useDashboard();
  const problem = useSignal('');
  const remove = async () => {
    try {
      await connection.request('delete_recording', { recording_id: info.recording_id });
      notices.say('The recording was deleted.');
      router.go(hrefOf('recordings'));
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  return (
    <Toolbar label="Recording">
      <Button onPress={() => saveFile(`${info.recording_id}.cast`, file)}>
        <Icon name="download" />
        Download
      </Button>
      <TwoStepButton ask="Delete for good?" whyNot={whyNotDelete(access, info)} onPress={() => void remove()}>
        Delete
      </TwoStepButton>
      {problem.value === '' ? null : <span role="alert">{problem.value}</span>}
    </Toolbar>
  );
}
