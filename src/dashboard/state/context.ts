import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

import type { Dashboard } from './dashboard.js';

/** Gives components the state of the dashboard. */
export const DashboardContext = createContext<Dashboard | undefined>(undefined);

/** The state of the dashboard. */
export function useDashboard(): Dashboard {
  const dashboard = useContext(DashboardContext);
  if (!dashboard) throw new Error('no dashboard around this component');
  return dashboard;
}
