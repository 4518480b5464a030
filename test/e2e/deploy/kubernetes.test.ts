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

describe.skipIf(!hasKubectl)('kustomize (needs kubectl)', () => {
  it('builds the overlay of a single daemon', () => {
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', `${OVERLAYS}/single`], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    const resources = parseAllDocuments(stdout).map((document) => document.toJS() as Resource);
    expect(resources.map(({ kind }) => kind).sort()).toEqual([
      'ConfigMap',
      'Namespace',
      'NetworkPolicy',
      'Service',
      'ServiceAccount',
      'StatefulSet',
    ]);
    for (const { kind, metadata } of resources) {
      expect(metadata.name, kind).toMatch(/^shell-adapter/);
      if (kind !== 'Namespace') expect(metadata.namespace, kind).toBe('shell-adapter');
    }
  });
});
