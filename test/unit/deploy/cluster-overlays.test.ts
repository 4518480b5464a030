import { describe, expect, it } from 'vitest';

import type { Configuration } from '../../../src/config/model/configuration.js';
import { NODE_NAME } from '../../../src/core/ids.js';
import { type Labels, Overlay, type Port } from '../../support/deploy/overlay.js';
import { nodeConfiguration, secretsOf } from './node-configuration.js';

const componentOf = (labels: Labels) => labels['app.kubernetes.io/component'];

/** Overlays of a cluster: their workloads, those whose links are dialled, and those to which clients come. */
const OVERLAYS = [
  { name: 'cluster', workloads: ['redis', 'gateway', 'worker'], dialled: 'worker', entrance: 'gateway' },
  { name: 'nodes', workloads: ['redis', 'node'], dialled: 'node', entrance: 'node' },
] as const;

describe.each(OVERLAYS)('the overlay $name', ({ name: overlayName, workloads, dialled, entrance }) => {
  const overlay = new Overlay(overlayName);
  const { services, header } = overlay;

  /** The configuration of a kind of node, as its pods read it. */
  const configured = (kind: string): Configuration =>
    nodeConfiguration({ POD_NAME: `${kind}-0` }, overlay.configurationFile(kind));

  it('selects its own pods, by ports that these have', () => {
    expect(overlay.workloads.map(({ metadata }) => metadata.name)).toEqual(workloads);
    for (const { metadata, spec } of overlay.workloads) {
      expect(componentOf(spec.selector.matchLabels)).toBe(metadata.name);
      expect(componentOf(spec.template.metadata.labels)).toBe(metadata.name);
      if (spec.serviceName !== undefined) expect(services.map((one) => one.metadata.name)).toContain(spec.serviceName);
    }
    const portsOf = (component: string | undefined): readonly Port[] =>
      overlay.workloads.find(({ metadata }) => metadata.name === component)?.spec.template.spec.containers[0].ports ??
      [];
    for (const { spec } of services) {
      const [{ port, targetPort }] = spec.ports as [{ port: number; targetPort: string }];
      expect(portsOf(componentOf(spec.selector))).toContainEqual({ name: targetPort, containerPort: port });
    }
    for (const { metadata, spec } of overlay.policies) {
      expect(componentOf(spec.podSelector.matchLabels)).toBe(metadata.name);
      const ports = portsOf(metadata.name).map((port) => port.name);
      for (const { ports: allowed } of spec.ingress) expect(ports).toContain(allowed[0].port);
    }
    expect(overlay.policies.map(({ metadata }) => metadata.name).sort()).toEqual([...workloads].sort());
  });

  it('mounts what exists: volumes, configurations, and secrets that its first lines make', () => {
    for (const { spec } of overlay.workloads) {
      const { containers, volumes } = spec.template.spec;
      const claimed = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name);
      const names = [...volumes.map(({ name }) => name), ...claimed];
      expect(containers[0].volumeMounts.map(({ name }) => name).sort()).toEqual(names.sort());
      const secrets = [
        ...volumes.flatMap(({ secret }) => secret?.secretName ?? []),
        ...(containers[0].envFrom ?? []).map(({ secretRef }) => secretRef.name),
      ];
      for (const name of secrets) expect(header).toContain(`create secret generic ${name} `);
      for (const { secret } of volumes)
        for (const { key } of secret?.items ?? []) expect(header).toContain(`--from-file=nodes/${key}`);
      for (const { configMap } of volumes) if (configMap) expect(overlay.configurations).toContain(configMap.name);
    }
  });

  it('configures nodes with keys that they have, and files that are mounted', () => {
    for (const { metadata, spec } of overlay.nodes) {
      const configuration = configured(metadata.name);
      expect(configuration.cluster).toMatchObject({ enabled: true, role: metadata.name });
      expect(`${metadata.name}-0`).toMatch(NODE_NAME);
      const { containers, volumes } = spec.template.spec;
      const mountOf = (name: string) => containers[0].volumeMounts.find((one) => one.name === name)?.mountPath ?? '';
      const items = volumes.find(({ name }) => name === 'nodes')?.secret?.items ?? [];
      expect(items.map(({ path }) => `${mountOf('nodes')}/${path}`).sort()).toEqual(secretsOf(configuration));
      const [variable] = containers[0].env?.filter(({ name }) => name === 'SHELL_ADAPTER_CONFIG') ?? [];
      expect(variable?.value).toBe(`${mountOf('configuration')}/shell_adapter.yaml`);
    }
  });

  it('reaches the nodes that run sessions by their names, also while they drain, and waits for that', () => {
    const { cluster } = configured(dialled);
    const nodes = overlay.nodes.find(({ metadata }) => metadata.name === dialled)!;
    const service = services.find(({ metadata }) => metadata.name === nodes.spec.serviceName)!;
    const host = `${dialled}-0.${service.metadata.name}.${overlay.namespace}.svc`;
    expect(cluster.linkUrl).toBe(`https://${host}:${cluster.linkPort}`);
    expect(service.spec.publishNotReadyAddresses).toBe(true);
    expect(header).toContain(`'*.${service.metadata.name}.${overlay.namespace}.svc'`);
    expect(nodes.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(cluster.drainTimeoutMs / 1000);
  });

  it('leads clients to those that take them, by names that these accept', () => {
    const { metadata, spec } = services.find((one) => one.metadata.name === 'shell-adapter')!;
    expect(componentOf(spec.selector)).toBe(entrance);
    expect(spec.publishNotReadyAddresses).toBeUndefined();
    const { auth, socketio } = configured(entrance);
    expect(auth.mode).toBe('token');
    expect(socketio.allowedHosts).toEqual(
      ['', '.shell-adapter', '.shell-adapter.svc', '.shell-adapter.svc.cluster.local'].map(
        (rest) => metadata.name + rest,
      ),
    );
  });
});
