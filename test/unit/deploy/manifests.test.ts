import { existsSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { readConfiguration, skipRuleTests } from '../../../src/config/read/read.js';
import { readCopy, readDockerfile, readList, readVariables, settingOf } from '../../../scripts/image/dockerfile.mjs';
import { read, readYaml } from '../../support/deploy/files.js';

/** The port of the daemon unless it is configured otherwise. */
const PORT = 8087;
/** The daemon ends within this time, in seconds: see `serve --help`. */
const STOP_SECONDS = 5;

/** Reads variables as the daemon does: unknown names, and values that a key does not take, are errors. */
const configurationOf = (env: Readonly<Record<string, string>>, file?: string) =>
  readConfiguration({ env: { HOME: '/home/user', ...env }, cwd: '/workspace', file }, skipRuleTests);

const stages = readDockerfile(read('deploy/docker/Dockerfile'));
const image = stages.at(-1)!;
const imageVariables = readVariables(settingOf(image, 'ENV') ?? '');
const imageUser = settingOf(image, 'USER') ?? '';
const imageVolumes = readList(settingOf(image, 'VOLUME') ?? '');

describe('the Dockerfile', () => {
  it('sets variables that the daemon takes', () => {
    const { socketio, adapter } = configurationOf(imageVariables);
    expect(socketio).toMatchObject({ host: '0.0.0.0', port: PORT });
    expect(settingOf(image, 'EXPOSE')).toBe(String(PORT));
    expect(imageVolumes).toEqual([adapter.workspaceDirectory, adapter.stateDirectory]);
  });

  it('copies what is there, and what .dockerignore leaves in', () => {
    const ignored = read('.dockerignore').split('\n');
    const copies = stages.flatMap(({ steps }) => steps.filter(({ instruction }) => instruction === 'COPY'));
    for (const { from, sources } of copies.map(({ text }) => readCopy(text))) {
      if (from === undefined) expect(ignored.filter((name) => sources.includes(name))).toEqual([]);
    }
  });

  it('installs what the daemon needs, and runs it by an init as a user without rights', () => {
    const installation = image.steps.find(({ text }) => text.includes('apt-get install'))?.text ?? '';
    for (const name of ['bash', 'git', 'bubblewrap', 'procps', 'tini']) expect(installation.split(' ')).toContain(name);
    expect(readList(settingOf(image, 'ENTRYPOINT') ?? '').slice(0, 2)).toEqual(['tini', '--']);
    expect(imageUser).toBe('10001:10001');
    expect(settingOf(image, 'HEALTHCHECK')).toContain(`http://127.0.0.1:${String(PORT)}/readyz`);
  });
});

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly stop_grace_period: string;
  readonly build: { readonly context: string; readonly dockerfile: string };
}

describe('compose.yaml', () => {
  const [file] = readYaml('deploy/docker/compose.yaml') as [
    { readonly services: Readonly<Record<string, Service>>; readonly volumes: object },
  ];

  it('configures the daemon with keys that it has', () => {
    for (const { environment } of Object.values(file.services)) configurationOf({ ...imageVariables, ...environment });
  });

  it('publishes the port on this machine alone, keeps the volumes of the image, and waits for the end', () => {
    const daemon = file.services['shell-adapter']!;
    expect(daemon.ports).toEqual([`127.0.0.1:${String(PORT)}:${String(PORT)}`]);
    expect(daemon.volumes.map((volume) => volume.split(':')[1]).sort()).toEqual([...imageVolumes].sort());
    expect(Object.keys(file.volumes).sort()).toEqual(daemon.volumes.map((volume) => volume.split(':')[0]).sort());
    expect(parseInt(daemon.stop_grace_period)).toBeGreaterThan(STOP_SECONDS);
    expect(read(`deploy/docker/${daemon.build.context}/${daemon.build.dockerfile}`)).toBe(
      read('deploy/docker/Dockerfile'),
    );
  });
});

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface StatefulSet {
  readonly spec: {
    readonly serviceName: string;
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly containers: readonly [Container];
        readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
      };
    };
    readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  };
}

interface Named {
  readonly metadata: { readonly name: string };
}

describe('the manifests of Kubernetes', () => {
  const base = (name: string) => readYaml(`deploy/kubernetes/base/${name}`)[0];
  const { spec } = base('stateful-set.yaml') as StatefulSet;
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const service = base('service.yaml') as Named & { spec: { ports: { port: number; targetPort: string }[] } };
  const kustomization = base('kustomization.yaml') as {
    readonly resources: readonly string[];
    readonly configMapGenerator: readonly { readonly name: string; readonly files: readonly string[] }[];
  };

  it('name ports, probes, volumes and accounts that exist', () => {
    const ports = container.ports.map(({ name }) => name);
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      expect(ports).toContain(probe.httpGet.port);
    }
    expect([container.livenessProbe, container.readinessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
      '/healthz',
      '/readyz',
    ]);
    expect(container.ports).toEqual([{ name: 'http', containerPort: PORT }]);
    expect(service.spec.ports.map(({ port, targetPort }) => [port, targetPort])).toEqual([[PORT, 'http']]);
    expect(spec.serviceName).toBe(service.metadata.name);
    expect((base('service-account.yaml') as Named).metadata.name).toBe(pod.serviceAccountName);
    const volumes = [
      ...pod.volumes.map(({ name }) => name),
      ...spec.volumeClaimTemplates.map(({ metadata }) => metadata.name),
    ];
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(volumes.sort());
    const maps = pod.volumes.flatMap(({ configMap }) => configMap?.name ?? []);
    expect(maps).toEqual(kustomization.configMapGenerator.map(({ name }) => name));
  });

  it('configure the daemon with keys that it has', () => {
    const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
    const mount = container.volumeMounts.find(({ name }) => name === 'configuration')?.mountPath ?? '';
    const [file = ''] = kustomization.configMapGenerator.flatMap(({ files }) => files);
    expect(env['SHELL_ADAPTER_CONFIG']).toBe(`${mount}/${file}`);
    const path = new URL(`../../../deploy/kubernetes/base/${file}`, import.meta.url).pathname;
    const { auth, socketio } = configurationOf({ ...imageVariables, ...env }, path);
    expect(auth.mode).toBe('token');
    const [{ namespace }] = readYaml('deploy/kubernetes/overlays/single/kustomization.yaml') as [{ namespace: string }];
    const { name } = service.metadata;
    expect(socketio.allowedHosts).toEqual(
      ['', `.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.cluster.local`].map((rest) => name + rest),
    );
  });

  it('run as the user of the image, with its volumes, and wait for the end', () => {
    const [uid, gid] = imageUser.split(':').map(Number);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: uid, runAsGroup: gid, fsGroup: gid });
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(STOP_SECONDS);
    const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
    for (const volume of imageVolumes) expect(mounts).toContain(volume);
  });
});

describe('the unit of systemd', () => {
  const unit = read('deploy/systemd/shell-adapter.service');

  it('sets variables that the daemon takes, below its own directories', () => {
    const pairs = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
    const { adapter } = configurationOf(Object.fromEntries(pairs) as Record<string, string>);
    const [, own = ''] = /^StateDirectory=(.*)$/m.exec(unit) ?? [];
    const made = own.split(' ').map((name) => `/var/lib/${name}`);
    for (const path of [adapter.stateDirectory, adapter.workspaceDirectory]) expect(made).toContain(path);
  });

  it('has no line that breaks bubblewrap, and waits for the end', () => {
    const lines = unit.split('\n').filter((line) => !line.startsWith('#'));
    const broken =
      /^(?:RestrictNamespaces|SystemCallFilter|ProtectKernelTunables|ProtectKernelLogs|ProtectProc|ProcSubset)=/;
    expect(lines.filter((line) => broken.test(line))).toEqual([]);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(STOP_SECONDS);
  });
});

describe('the drop-in for sessions that outlive the daemon', () => {
  const linesOf = (path: string) => read(path).split('\n');
  const unit = linesOf('deploy/systemd/shell-adapter.service');
  const dropIn = linesOf('deploy/systemd/detach.conf');

  it('switches adapter.detach on, and has systemd end the daemon alone', () => {
    expect(dropIn).toContain('KillMode=process');
    // Without detach, nothing is to stay.
    expect(unit).toContain('KillMode=mixed');
    const [, name = '', value = ''] = /^Environment=(\w+)=(.*)$/m.exec(dropIn.join('\n')) ?? [];
    expect(configurationOf({ [name]: value }).adapter.detach).toBe(true);
  });

  it('leaves a /tmp that stays, and can be written to', () => {
    expect(unit).toEqual(expect.arrayContaining(['PrivateTmp=yes', 'ProtectSystem=strict']));
    expect(dropIn).toEqual(expect.arrayContaining(['PrivateTmp=no', 'ReadWritePaths=/tmp /var/tmp']));
  });

  it('has the service go on when the kernel ends a command for its memory', () => {
    // systemd.service(5): OOMPolicy is `continue` with Delegate, otherwise `stop`.
    expect(unit).toContain('Delegate=cpu memory pids');
    expect(dropIn.filter((line) => line.startsWith('Delegate'))).toEqual([]);
  });
});

describe('the page', () => {
  it('names files that exist', () => {
    const page = read('docs/operate/deployment.md');
    const named = [...page.matchAll(/(?<![\w.])(?:\$package\/)?((?:deploy|config)\/[\w./-]+\w)/g)].map(
      ([, path = '']) => path,
    );
    expect(named.length).toBeGreaterThan(10);
    for (const path of named) expect(existsSync(new URL(`../../../${path}`, import.meta.url)), path).toBe(true);
  });
});

describe('the workflow that publishes', () => {
  it('runs scripts that exist, with no more rights than it needs', () => {
    const [workflow] = readYaml('.github/workflows/publish.yml') as [
      {
        readonly permissions: object;
        readonly jobs: {
          readonly publish: { readonly permissions: object; readonly steps: readonly { readonly run?: string }[] };
        };
      },
    ];
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    const { permissions, steps } = workflow.jobs.publish;
    const commands = steps.flatMap(({ run }) => run ?? []);
    for (const [, name = ''] of commands.join('\n').matchAll(/npm run (\S+)/g))
      expect(Object.keys(scripts)).toContain(name);
    expect(commands.at(-1)).toBe('npm publish --provenance --access public');
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(permissions).toEqual({ contents: 'read', 'id-token': 'write' });
  });
});
