import { describe, expect, it } from 'vitest';

import { readDockerfile, readVariables, settingOf } from '../../../scripts/image/dockerfile.mjs';
import type { Configuration } from '../../../src/config/model/configuration.js';
import { readConfiguration, skipRuleTests } from '../../../src/config/read/read.js';
import { NODE_NAME } from '../../../src/core/node-name.js';
import { read, readYaml } from './files.js';

type Variables = Readonly<Record<string, string>>;

const image = readDockerfile(read('deploy/docker/Dockerfile')).at(-1)!;
const imageVariables = readVariables(settingOf(image, 'ENV') ?? '');
/** As make-secrets writes it. */
const REDIS = { SHELL_ADAPTER_CLUSTER_REDIS_URL: 'redis://gateway:0123@redis:6379/0' };

/** Reads variables as the daemon does: unknown names, and values that a key does not take, are errors. */
const configurationOf = (env: Variables, file?: string): Configuration =>
  readConfiguration({ env: { ...imageVariables, ...REDIS, ...env }, cwd: '/workspace', file }, skipRuleTests);

/** The files that a node reads to know others. */
const secretsOf = ({ cluster: { tls, secretFile } }: Configuration) =>
  [tls.cert, tls.key, tls.ca, secretFile].map((path) => path ?? 'missing').sort();

describe('compose.cluster.yaml', () => {
  interface Service {
    readonly hostname?: string;
    readonly environment?: Variables;
    readonly env_file?: string;
    readonly volumes: readonly string[];
    readonly networks: readonly string[];
    readonly ports?: readonly string[];
    readonly stop_grace_period?: string;
  }
  const [file] = readYaml('deploy/docker/compose.cluster.yaml') as [
    { readonly services: Readonly<Record<string, Service>>; readonly volumes: object; readonly networks: object },
  ];
  const nodes = Object.entries(file.services).filter(([name]) => /^(?:gateway|worker)-/.test(name));

  it('has two gateways and three workers, configured with keys that they have', () => {
    expect(nodes.map(([name]) => name)).toEqual(['gateway-1', 'gateway-2', 'worker-1', 'worker-2', 'worker-3']);
    for (const [name, { hostname, environment = {}, env_file, volumes }] of nodes) {
      const role = name.replace(/-\d$/, '');
      const configuration = configurationOf(environment);
      expect(configuration.cluster).toMatchObject({ enabled: true, role });
      expect([hostname, env_file]).toEqual([name, `nodes/${role}.env`]);
      expect(name).toMatch(NODE_NAME);
      const secrets = volumes.filter((volume) => volume.startsWith('./nodes/'));
      expect(secrets.map((volume) => volume.split(':')[1]).sort()).toEqual(secretsOf(configuration));
      if (role === 'worker')
        expect(configuration.cluster.linkUrl).toBe(`https://${name}:${configuration.cluster.linkPort}`);
      else expect(configuration.auth.mode).toBe('token');
    }
  });

  it('waits for workers to drain, and keeps volumes apart', () => {
    for (const [name, { environment = {}, stop_grace_period: grace = '' }] of nodes) {
      const { role, drainTimeoutMs } = configurationOf(environment).cluster;
      if (role === 'worker') expect(parseInt(grace), name).toBeGreaterThan(drainTimeoutMs / 1000);
    }
    const used = nodes.flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(':')[0] ?? ''));
    const named = used.filter((volume) => !volume.startsWith('.'));
    expect(named.sort()).toEqual(Object.keys(file.volumes).sort());
  });

  it('has a proxy that leads to the gateways, and is all that is published', () => {
    const proxy = read('deploy/docker/haproxy.cfg');
    const servers = [...proxy.matchAll(/^ {2}server (\S+) (\S+) cookie (\S+)$/gm)].map((match) => match.slice(1));
    const gateways = nodes.filter(([name]) => name.startsWith('gateway-'));
    expect(servers).toEqual(gateways.map(([name]) => [name, `${name}:8087`, name]));
    const [, host = ''] = /hdr Host (\S+)/.exec(proxy) ?? [];
    for (const [, { environment = {} }] of gateways) {
      expect(configurationOf(environment).socketio.allowedHosts).toContain(host);
    }
    const published = Object.entries(file.services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([['proxy', ['127.0.0.1:8087:8087']]]);
    // Commands of workers reach neither the proxy's side nor, without a password, Redis.
    for (const [name, { networks }] of nodes) {
      expect(networks, name).toEqual(name.startsWith('worker') ? ['nodes', 'outside'] : ['clients', 'nodes']);
    }
  });
});

describe('the overlay of a cluster', () => {
  const OVERLAY = 'deploy/kubernetes/overlays/cluster';
  interface Named {
    readonly kind: string;
    readonly metadata: { readonly name: string };
  }
  interface Labels {
    readonly 'app.kubernetes.io/component'?: string;
  }
  interface Port {
    readonly name: string;
    readonly containerPort: number;
  }
  interface Container {
    readonly env?: readonly { readonly name: string; readonly value?: string }[];
    readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[];
    readonly ports: readonly Port[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }
  interface Volume {
    readonly name: string;
    readonly configMap?: { readonly name: string };
    readonly secret?: {
      readonly secretName: string;
      readonly items?: readonly { readonly key: string; readonly path: string }[];
    };
  }
  interface Workload extends Named {
    readonly spec: {
      readonly serviceName?: string;
      readonly selector: { readonly matchLabels: Labels };
      readonly template: {
        readonly metadata: { readonly labels: Labels };
        readonly spec: {
          readonly terminationGracePeriodSeconds?: number;
          readonly containers: readonly [Container];
          readonly volumes: readonly Volume[];
        };
      };
      readonly volumeClaimTemplates?: readonly Named[];
    };
  }
  interface Service extends Named {
    readonly spec: {
      readonly selector: Labels;
      readonly publishNotReadyAddresses?: boolean;
      readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
    };
  }
  interface Policy extends Named {
    readonly spec: {
      readonly podSelector: { readonly matchLabels: Labels };
      readonly ingress: readonly [{ readonly ports: readonly [{ readonly port: string }] }];
    };
  }

  const [kustomization] = readYaml(`${OVERLAY}/kustomization.yaml`) as [
    {
      readonly namespace: string;
      readonly resources: readonly string[];
      readonly configMapGenerator: readonly { readonly name: string; readonly files: readonly [string] }[];
    },
  ];
  const objects = kustomization.resources.flatMap((path) => readYaml(`${OVERLAY}/${path}`)) as readonly Named[];
  const ofKind = <T extends Named>(...kinds: readonly string[]) =>
    objects.filter(({ kind }) => kinds.includes(kind)) as T[];
  const workloads = ofKind<Workload>('StatefulSet', 'Deployment');
  const services = ofKind<Service>('Service');
  const componentOf = (labels: Labels) => labels['app.kubernetes.io/component'];
  const nodes = workloads.filter(({ metadata }) => metadata.name !== 'redis');
  const header = read(`${OVERLAY}/kustomization.yaml`);

  /** The configuration of a kind of node, as its pods read it. */
  const configured = (kind: string): Configuration => {
    const map = kustomization.configMapGenerator.find(({ name }) => name === kind);
    const [, path = ''] = map?.files[0].split('=') ?? [];
    const file = new URL(`../../../${OVERLAY}/${path}`, import.meta.url).pathname;
    return configurationOf({ POD_NAME: `${kind}-0` }, file);
  };

  it('selects its own pods, by ports that these have', () => {
    expect(workloads.map(({ metadata }) => metadata.name)).toEqual(['redis', 'gateway', 'worker']);
    for (const { metadata, spec } of workloads) {
      expect(componentOf(spec.selector.matchLabels)).toBe(metadata.name);
      expect(componentOf(spec.template.metadata.labels)).toBe(metadata.name);
      if (spec.serviceName !== undefined) expect(services.map((one) => one.metadata.name)).toContain(spec.serviceName);
    }
    const portsOf = (component: string | undefined): readonly Port[] =>
      workloads.find(({ metadata }) => metadata.name === component)?.spec.template.spec.containers[0].ports ?? [];
    for (const { spec } of services) {
      const [{ port, targetPort }] = spec.ports as [{ port: number; targetPort: string }];
      expect(portsOf(componentOf(spec.selector))).toContainEqual({ name: targetPort, containerPort: port });
    }
    for (const { metadata, spec } of ofKind<Policy>('NetworkPolicy')) {
      expect(componentOf(spec.podSelector.matchLabels)).toBe(metadata.name);
      expect(portsOf(metadata.name).map(({ name }) => name)).toContain(spec.ingress[0].ports[0].port);
    }
    expect(ofKind('NetworkPolicy')).toHaveLength(workloads.length);
  });

  it('mounts what exists: volumes, configurations, and secrets that its first lines make', () => {
    for (const { spec } of workloads) {
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
      const maps = volumes.flatMap(({ configMap }) => configMap?.name ?? []);
      for (const name of maps) expect(kustomization.configMapGenerator.map((one) => one.name)).toContain(name);
    }
  });

  it('configures nodes with keys that they have, and files that are mounted', () => {
    for (const { metadata, spec } of nodes) {
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

  it('reaches workers by their names, also while they drain, and waits for that', () => {
    const { cluster } = configured('worker');
    const worker = nodes.find(({ metadata }) => metadata.name === 'worker')!;
    const service = services.find(({ metadata }) => metadata.name === worker.spec.serviceName)!;
    const host = `worker-0.${service.metadata.name}.${kustomization.namespace}.svc`;
    expect(cluster.linkUrl).toBe(`https://${host}:${cluster.linkPort}`);
    expect(service.spec.publishNotReadyAddresses).toBe(true);
    expect(header).toContain(`'*.${service.metadata.name}.${kustomization.namespace}.svc'`);
    expect(worker.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(cluster.drainTimeoutMs / 1000);
    const { name } = services.find(({ metadata }) => metadata.name === 'shell-adapter')!.metadata;
    expect(configured('gateway').socketio.allowedHosts).toEqual(
      ['', '.shell-adapter', '.shell-adapter.svc', '.shell-adapter.svc.cluster.local'].map((rest) => name + rest),
    );
  });
});
