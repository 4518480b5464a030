import { ChangeTracker } from '../../core/changes/change-tracker.js';
import type { NodeInfo } from '../../core/protocol/requests/nodes.js';
import type { ClusterPort } from '../ports/cluster-port.js';
import { type Feed, limited, type Source, type Subscriber } from './source.js';

/** A node that is listed, or was. */
interface KnownNode {
  info: NodeInfo;
}

/** The changes of the nodes of the cluster, as this node knows them. */
export class NodeSource implements Source {
  readonly #nodes: Pick<ClusterPort['nodes'], 'list'>;
  readonly #known = new Map<string, KnownNode>();
  #changes = new ChangeTracker<KnownNode>();
  #removed = new ChangeTracker<KnownNode>();

  constructor(nodes: Pick<ClusterPort['nodes'], 'list'>) {
    this.#nodes = nodes;
  }

  look(): void {
    const { nodes } = this.#nodes.list();
    for (const info of nodes) this.#note(info);
    const names = new Set(nodes.map(({ node }) => node));
    for (const [name, known] of this.#known) if (!names.has(name)) this.#forget(name, known);
  }

  close(): void {
    this.#known.clear();
    this.#changes = new ChangeTracker();
    this.#removed = new ChangeTracker();
  }

  feed({ sink }: Subscriber): Feed {
    let isFirst = true;
    let revision = 0;
    let removals = this.#removed.revision;
    return () => {
      const changed = this.#changes.changedSince(revision).map(({ info }) => info);
      const gone = this.#removed.changedSince(removals).map(({ info }) => info.node);
      revision = this.#changes.revision;
      removals = this.#removed.revision;
      // One of them may have come again.
      const removed = [...new Set(gone)].filter((name) => !this.#known.has(name));
      if (!isFirst && changed.length === 0 && removed.length === 0) return;
      const { entries: nodes, mark } = limited(changed);
      sink.send('nodes_changed', { nodes: [...nodes], removed, ...(isFirst && { complete: true as const }), ...mark });
      isFirst = false;
    };
  }

  #note(info: NodeInfo): void {
    const known = this.#known.get(info.node) ?? { info };
    known.info = info;
    this.#known.set(info.node, known);
    this.#changes.note(known, [stampOf(info)]);
  }

  #forget(name: string, known: KnownNode): void {
    this.#known.delete(name);
    this.#changes.forget(known);
    this.#removed.note(known, []);
    this.#removed.retire(known);
  }
}

/** What of a node is told when it changes. One that is there is seen all the time. */
function stampOf(info: NodeInfo): string {
  const isThere = info.state === 'live' || info.state === 'draining';
  return JSON.stringify(isThere ? { ...info, seen_at: null } : info);
}
