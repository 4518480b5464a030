import { describe, expect, it } from 'vitest';

import { NODE_NAME } from '../../../src/core/ids.js';
import { nodesOf, readCompose } from '../../support/deploy/compose.js';
import { read } from '../../support/deploy/files.js';
import { nodeConfiguration, secretsOf } from './node-configuration.js';

interface Manifest {
  readonly name: string;
  readonly proxyFile: string;
  readonly names: readonly string[];
  readonly entrances: readonly string[];
  readonly redisUsers: Table<string>;
  readonly networks: Table<readonly string[]>;
}

/** Values by the roles of nodes. */
type Table<T> = Readonly<Partial<Record<string, T>>>;

/** Files of a cluster: their nodes, those to which clients come, and the file with the user of Redis of each role. */
const FILES: readonly Manifest[] = [
  {
    name: 'compose.cluster.yaml',
    proxyFile: 'haproxy.cfg',
    names: ['gateway-1', 'gateway-2', 'worker-1', 'worker-2', 'worker-3'],
    entrances: ['gateway-1', 'gateway-2'],
    redisUsers: { gateway: 'gateway', worker: 'worker' },
    networks: { gateway: ['clients', 'nodes'], worker: ['nodes', 'outside'] },
  },
  {
    name: 'compose.nodes.yaml',
    proxyFile: 'haproxy.nodes.cfg',
    names: ['node-1', 'node-2', 'node-3'],
    entrances: ['node-1', 'node-2', 'node-3'],
    redisUsers: { node: 'gateway' },
    networks: { node: ['clients', 'nodes', 'outside'] },
  },
];

describe.each(FILES)('$name', ({ name: fileName, proxyFile, names, entrances, redisUsers, networks }) => {
  const file = readCompose(fileName);
  const nodes = nodesOf(file);
  const roleOf = (name: string) => name.replace(/-\d$/, '');
  const byRole = <T>(table: Table<T>, name: string): T | undefined => table[roleOf(name)];

  it('has its nodes, configured with keys that they have', () => {
    expect(nodes.map(([name]) => name)).toEqual(names);
    for (const [name, { hostname, environment = {}, env_file, volumes }] of nodes) {
      const configuration = nodeConfiguration(environment);
      expect(configuration.cluster).toMatchObject({ enabled: true, role: roleOf(name) });
      expect([hostname, env_file]).toEqual([name, `nodes/${byRole(redisUsers, name)}.env`]);
      expect(name).toMatch(NODE_NAME);
      const secrets = volumes.filter((volume) => volume.startsWith('./nodes/'));
      expect(secrets.map((volume) => volume.split(':')[1]).sort()).toEqual(secretsOf(configuration));
      if (configuration.cluster.role !== 'gateway')
        expect(configuration.cluster.linkUrl).toBe(`https://${name}:${configuration.cluster.linkPort}`);
      if (configuration.cluster.role !== 'worker') expect(configuration.auth.mode).toBe('token');
    }
  });

  it('makes certificates for its nodes by its first lines', () => {
    const dialled = nodes.filter(([, { environment = {} }]) => nodeConfiguration(environment).cluster.linkUrl);
    const hosts = dialled.map(([name]) => name).join(' ');
    expect(read(`deploy/docker/${fileName}`)).toContain(`deploy/cluster/make-secrets deploy/docker/nodes ${hosts}\n`);
  });

  it('waits for nodes to drain, and keeps volumes apart', () => {
    for (const [name, { environment = {}, stop_grace_period: grace = '' }] of nodes) {
      const { role, drainTimeoutMs } = nodeConfiguration(environment).cluster;
      if (role !== 'gateway') expect(parseInt(grace), name).toBeGreaterThan(drainTimeoutMs / 1000);
    }
    const used = nodes.flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(':')[0] ?? ''));
    const named = used.filter((volume) => !volume.startsWith('.'));
    expect(named.sort()).toEqual(Object.keys(file.volumes).sort());
  });

  it('has a proxy that leads to those that take clients, and is all that is published', () => {
    const proxy = read(`deploy/docker/${proxyFile}`);
    expect(file.services['proxy']?.volumes[0]).toMatch(new RegExp(`^\\./${proxyFile}:`));
    const servers = [...proxy.matchAll(/^ {2}server (\S+) (\S+) cookie (\S+)$/gm)].map((match) => match.slice(1));
    expect(servers).toEqual(entrances.map((name) => [name, `${name}:8087`, name]));
    const [, host = ''] = /hdr Host (\S+)/.exec(proxy) ?? [];
    for (const name of entrances) {
      const { environment = {} } = file.services[name] ?? {};
      expect(nodeConfiguration(environment).socketio.allowedHosts).toContain(host);
    }
    const published = Object.entries(file.services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([['proxy', ['127.0.0.1:8087:8087']]]);
    // Commands of workers reach neither the proxy's side nor, without a password, Redis.
    for (const [name, service] of nodes) expect(service.networks, name).toEqual(byRole(networks, name));
  });
});
