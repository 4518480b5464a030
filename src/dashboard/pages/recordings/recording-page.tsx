import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { ClientError } from '../../../client/index.js';
import { type Cast, OWN_KEY, parseCast } from '../../../core/recording.js';
import { Button, saveFile, Toolbar, TwoStepButton } from '../../components/button.js';
import { Icon } from '../../components/icon.js';
import { Empty, Loading, Problem } from '../../components/states.js';
import { Ago } from '../../components/time.js';
import { formatBytes, formatPercent } from '../../format.js';
import { hrefOf } from '../../route.js';
import type { Access, DaemonConnection } from '../../state/connection.js';
import { useDashboard } from '../../state/context.js';
import { PlayerView } from './player-view.js';
import { type Recording, StateBadge } from './recording-list.js';

/** Largest recording that is played, in bytes: its text and events take many times as much memory. */
const MAX_PLAYED_BYTES = 96 * 1024 * 1024;

/** Why a recording of a size is not played in a page, and what can be done; undefined when it is. */
export function whyNotPlayed(id: string, bytes: number): string | undefined {
  if (bytes <= MAX_PLAYED_BYTES) return undefined;
  const limit = formatBytes(MAX_PLAYED_BYTES);
  return `It has ${formatBytes(bytes)}, and a page plays ${limit} at most. "shell-adapter replay ${id}" plays it in a terminal`;
}

/** Bytes per request. */
const PIECE_BYTES = 512 * 1024;

/** A recording that was read. */
interface ReadRecording {
  readonly file: Blob;
  readonly cast: Cast;
  readonly info: Recording;
}

/**
 * Reads a whole recording, as far as it is written.
 * @param onProgress called with the part that was read, from 0 to 1
 * @throws ClientError RECORDING_NOT_FOUND; Error for a file that cannot be played
 */
async function readRecording(
  connection: Pick<DaemonConnection, 'request'>,
  id: string,
  onProgress: (part: number) => void,
): Promise<ReadRecording> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let offset = 0, size = 1; offset < size;) {
    const answer = await connection.request('read_recording', { recording_id: id, offset, length: PIECE_BYTES });
    const whyNot = whyNotPlayed(id, answer.size);
    if (whyNot !== undefined) throw new Error(whyNot);
    if (answer.data.length === 0) break;
    pieces.push(new Uint8Array(answer.data));
    offset += answer.data.length;
    size = answer.size;
    onProgress(offset / size);
  }
  const file = new Blob(pieces, { type: 'application/x-asciicast' });
  const cast = parseCast(await file.text());
  const sessionId = cast.header[OWN_KEY]?.session_id;
  const { recordings } = await connection.request('list_recordings', { session_id: sessionId });
  const info = recordings.find(({ recording_id: found }) => found === id);
  if (!info) throw new Error('it was deleted meanwhile');
  return { file, cast, info };
}

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
