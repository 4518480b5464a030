import type { JSX } from 'preact';

import { LlmCalls, RunningCommands, WaitingConfirmations } from './activity-panels.js';
import { HostPanel } from './host-panel.js';
import { SessionsTable } from './sessions-table.js';

import './overview.css';

/** What runs on the machine, and how it is. */
export const Overview = (): JSX.Element => (
  <>
    <h1 class="hidden">Overview</h1>
    <HostPanel />
    <WaitingConfirmations />
    <SessionsTable />
    <RunningCommands />
    <LlmCalls />
  </>
);
