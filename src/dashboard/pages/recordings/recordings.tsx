import type { JSX } from 'preact';

import type { PageProps } from '../../router.js';
import { RecordingList } from './recording-list.js';
import { RecordingPage } from './recording-page.js';

import './recordings.css';

/** The recordings of sessions, or one of them. */
export const Recordings = ({ segments: [id] }: PageProps): JSX.Element =>
  id === undefined ? <RecordingList /> : <RecordingPage key={id} id={id} />;
