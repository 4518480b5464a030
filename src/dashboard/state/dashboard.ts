import { type Signal, signal } from '@preact/signals';

import { Router } from '../router/router.js';
import { Access } from './access.js';
import { Attention } from './attention.js';
import { Clock } from './clock.js';
import { DaemonConnection } from './connection.js';
import { Drafts } from './drafts.js';
import { LiveData } from './live.js';
import { Notices } from './notices.js';
import { Theme } from './theme.js';

/** What a restart has ended. */
const RESTARTED = 'The daemon was restarted: the sessions and commands of its earlier run are gone.';

/** The state of the page: one of each, for all components. */
export class Dashboard {
  readonly router = new Router();
  readonly theme = new Theme();
  readonly clock = new Clock();
  readonly notices = new Notices();
  readonly access = new Access();
  readonly drafts = new Drafts();
  readonly live = new LiveData();
  readonly attention = new Attention(this);
  readonly connection: DaemonConnection;
  /** What a restart of the daemon has ended, for people; empty without one. */
  readonly restarted: Signal<string> = signal('');

  constructor() {
    this.connection = new DaemonConnection({
      onClient: async (client) => {
        const info = await client.request('describe_access', {});
        this.access.info.value = info;
        this.drafts.belongTo(info.name);
        await this.live.begin(client);
      },
      onRestored: async (isRestarted) => {
        this.restarted.value = isRestarted ? RESTARTED : '';
        this.notices.say(isRestarted ? RESTARTED : 'Connected again.');
        this.access.info.value = await this.connection.request('describe_access', {});
        await this.live.refresh();
      },
      onLost: () => {
        this.notices.say('The connection was lost.');
      },
      onSignedOut: (isWanted) => {
        if (isWanted) this.drafts.clear();
        this.access.info.value = undefined;
        this.live.clear();
      },
    });
  }
}
