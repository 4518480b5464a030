import { render } from 'preact';

import { App } from './frame/app.js';
import { takeCredentials } from './state/connection.js';
import { Dashboard, unregisterServiceWorkers } from './state/dashboard.js';
import { DashboardContext } from './state/context.js';

import './styles/tokens.css';
import './styles/base.css';
import './styles/components.css';
import './styles/frame.css';

// First of all: a token or code must not stay in the address and in the history.
const credentials = takeCredentials();
const root = document.getElementById('app');

if (root && !(await unregisterServiceWorkers())) {
  root.replaceChildren();
  const dashboard = new Dashboard();
  render(
    <DashboardContext.Provider value={dashboard}>
      <App />
    </DashboardContext.Provider>,
    root,
  );
  void dashboard.connection.start(credentials);
}
