import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

const OVERLAYS = fileURLToPath(new URL('../../../deploy/kubernetes/overlays', import.meta.url));

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const WORKLOADS = ['Namespace', 'ServiceAccount', 'Service', 'NetworkPolicy', 'ConfigMap', 'StatefulSet'];

describe.skipIf(!hasKubectl)('kustomize (needs kubectl)', () => {
  const build = (overlay: string): readonly Resource[] => {
    const run = spawnSync('kubectl', ['kustomize', `${OVERLAYS}/${overlay}`], { encoding: 'utf8' });
    expect(run.status, run.stderr).toBe(0);
    return parseAllDocuments(run.stdout).map((document) => document.toJS() as Resource);
  };

  it('builds the overlay of a single daemon', () => {
    const resources = build('single');
    expect(resources.map(({ kind }) => kind).sort()).toEqual([...WORKLOADS].sort());
    for (const { kind, metadata } of resources) expect(metadata.name, kind).toMatch(/^shell-adapter/);
  });

  it.each([
    ['cluster', ['gateway', 'redis', 'worker']],
    ['nodes', ['node', 'redis']],
  ])('builds the overlay %s, with a configuration for each kind of node', (overlay, names) => {
    const resources = build(overlay);
    const namesOf = (...kinds: readonly string[]) =>
      resources.flatMap(({ kind, metadata }) => (kinds.includes(kind) ? [metadata.name] : [])).sort();
    expect(namesOf('StatefulSet', 'Deployment')).toEqual(names);
    expect(namesOf('NetworkPolicy')).toEqual(names);
    expect(namesOf('ConfigMap').map((name) => name.replace(/-\w+$/, ''))).toEqual(
      names.filter((name) => name !== 'redis'),
    );
    expect(namesOf('Namespace', 'ServiceAccount')).toEqual(['shell-adapter', 'shell-adapter']);
  });

  it.each(['single', 'cluster', 'nodes'])('puts all of the overlay %s into its namespace', (overlay) => {
    for (const { kind, metadata } of build(overlay))
      if (kind !== 'Namespace') expect(metadata.namespace, kind).toBe('shell-adapter');
  });
});
