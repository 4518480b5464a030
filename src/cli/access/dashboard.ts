import { Option } from 'commander';

import { ROLE_NAMES } from '../../core/principal.js';
import { withDaemonOptions } from '../connect/daemon-address.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';
import type { DashboardOptions } from './open-dashboard.js';

/** `dashboard`: opens the dashboard in a browser, signed in. */
export const dashboardSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'dashboard'))
    .summary('open the dashboard in a browser')
    .description(
      'Opens the dashboard of the daemon in a browser ($BROWSER, or xdg-open), signed in by a link that counts once, for a ' +
        'minute. Without a browser, prints the link. The page may do what you may; as an operator it decides only if you show ' +
        'the token of an operator.',
    )
    .addOption(new Option('--role <role>', 'what the page may do; by default what you may').choices(ROLE_NAMES))
    .option('--for <span>', 'how long the page stays signed in: 30m, 8h, at most 12h', '12h')
    .option('--print', 'print the link, and open no browser')
    .addHelpText('after', HELP)
    .action(async (options: DashboardOptions) => {
      const { openDashboard } = await import('./open-dashboard.js');
      await openDashboard(context, options);
    });

const HELP = `
The link does not appear among the arguments of a process, which other users can see: the browser opens a private file that
leads to it. Browsers that cannot read such files, those of snap or flatpak for example, need --print.
${examples(
  'shell-adapter dashboard',
  'shell-adapter dashboard --role viewer --for 1h --print',
  'SHELL_ADAPTER_TOKEN=$(cat operator-token) shell-adapter dashboard',
)}`;
