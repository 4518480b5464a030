import type { JSX } from 'preact';

import { LlmCalls, RunningCommands, WaitingConfirmations } from './activity-panels.js';
import { NodeSelect, useNodes } from '../../components/nodes.js';
import { Toolbar } from '../../components/button.js';
import { hrefOf } from '../../route.js';
import { HostPanel } from './host-panel.js';
import { SessionsTable } from './sessions-table.js';

import './overview.css';

/** What runs on the machine, and how it is. */
export const Overview = (): JSX.Element => (
  <>
    <h1 class="hidden">Overview</h1>
    <NodeTools />
    <HostPanel />
    <WaitingConfirmations />
    <SessionsTable />
    <RunningCommands />
    <LlmCalls />
  </>
);

/** Chooses the node of a cluster whose sessions, commands and calls are listed. */
function NodeTools(): JSX.Element | null {
  const nodes = useNodes();
  if (!nodes) return null;
  return (
    <Toolbar label="Node of the lists">
      <NodeSelect nodes={nodes} none="All nodes" />
      <a href={hrefOf('nodes')}>The nodes</a>
      <span class="spacer" />
      <span class="muted">{`The machine is that of ${nodes.own}`}</span>
    </Toolbar>
  );
}
