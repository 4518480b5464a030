import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';

import type { OutputStreamName } from '../../../../client/index.js';
import { Button } from '../../../components/button.js';
import { Icon } from '../../../components/icon.js';
import { saveFile } from '../../../components/save-file.js';
import { formatBytes } from '../../../format/size.js';
import { useDashboard } from '../../../state/context.js';
import { readStream } from './download.js';

interface DownloadProps {
  readonly commandId: string;
  readonly stream: OutputStreamName;
  readonly size: number;
}

/** Downloads a stream, with its progress. */
export function DownloadButton({ commandId, stream, size }: DownloadProps): JSX.Element {
  const { connection } = useDashboard();
  const progress = useSignal<{ readonly done: number; readonly size: number } | undefined>(undefined);
  const problem = useSignal('');
  const abort = useMemo(() => new AbortController(), [commandId, stream]);
  useEffect(() => () => abort.abort(), [abort]);
  const download = async () => {
    problem.value = '';
    const onProgress = (done: number, end: number) => {
      progress.value = { done, size: end };
    };
    try {
      const content = await readStream(connection, { commandId, stream, signal: abort.signal, onProgress });
      saveFile(`${commandId}.${stream}.txt`, content);
    } catch (error) {
      problem.value = (error as Error).message;
    }
    progress.value = undefined;
  };
  if (progress.value) {
    const { done, size: end } = progress.value;
    return (
      <progress value={done} max={end} aria-label="Download" title={`${formatBytes(done)} of ${formatBytes(end)}`} />
    );
  }
  return (
    <>
      <Button whyNot={size === 0 ? `Nothing was written to ${stream}.` : undefined} onPress={() => void download()}>
        <Icon name="download" />
        Download
      </Button>
      {problem.value === '' ? null : <span role="alert">{problem.value}</span>}
    </>
  );
}
