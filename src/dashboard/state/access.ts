import { signal } from '@preact/signals';

import type { RequestName } from '../../client/index.js';
import { PERMISSIONS } from '../../core/protocol/permissions.js';
import { either } from '../format/words.js';
import type { AccessInfo } from './wire.js';

/** Kind of use of what belongs to one owner: to type and run, or to end. */
export type Use = 'use' | 'stop';

/** What this connection may do. The daemon decides; the page shows beforehand what it would refuse. */
export class Access {
  /** Undefined before the daemon has told. */
  readonly info = signal<AccessInfo | undefined>(undefined);

  /** Whether the daemon is a node of a cluster. */
  get inCluster(): boolean {
    return this.info.value?.node !== undefined;
  }

  /** Why a request would be refused, for people; undefined when it is allowed. */
  whyNot(request: RequestName): string | undefined {
    const info = this.info.value;
    if (!info) return 'The daemon has not told yet what this page may do.';
    if (info.may.includes(request)) return undefined;
    return `The role ${either(PERMISSIONS[request])} may do this; you have the role ${info.role}.`;
  }

  /** Why a request about something of an owner would be refused; undefined when it is allowed. */
  whyNotOf(request: RequestName, owner: string, use: Use): string | undefined {
    const refused = this.whyNot(request);
    const info = this.info.value;
    if (refused !== undefined || !info) return refused;
    const isOwn = info.name === owner;
    if (isOwn || info.role === 'admin' || (use === 'stop' && info.role === 'operator')) return undefined;
    const roles = use === 'stop' ? 'operator or admin' : 'admin';
    return `It belongs to ${owner}. The role ${roles} may do this with what belongs to others; you have the role ${info.role}.`;
  }
}
