import { fileURLToPath } from 'node:url';

import { read, readYaml } from './files.js';

/** An object of a manifest. */
export interface Named {
  readonly metadata: { readonly name: string };
}

/** Labels by which objects select each other. */
export interface Labels {
  readonly 'app.kubernetes.io/component'?: string;
}

/** A port of a container. */
export interface Port {
  readonly name: string;
  readonly containerPort: number;
}

/** The container of a pod. */
export interface Container {
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[];
  readonly ports: readonly Port[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

/** A volume of a pod. */
export interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: {
    readonly secretName: string;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
}

/** Pods, and how many. */
export interface Workload extends Named {
  readonly kind: 'StatefulSet' | 'Deployment';
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

/** A name for pods. */
export interface Service extends Named {
  readonly kind: 'Service';
  readonly spec: {
    readonly selector: Labels;
    readonly publishNotReadyAddresses?: boolean;
    readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
  };
}

/** Who reaches pods. */
export interface Policy extends Named {
  readonly kind: 'NetworkPolicy';
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Labels };
    readonly ingress: readonly { readonly ports: readonly [{ readonly port: string }] }[];
  };
}

interface Kustomization {
  readonly namespace: string;
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly name: string; readonly files: readonly [string] }[];
}

/** An overlay of kustomize: its objects, and the configurations that it generates. */
export class Overlay {
  /** The text of its kustomization: the first lines say what has to be made before. */
  readonly header: string;
  readonly namespace: string;
  /** Names of the configurations. */
  readonly configurations: readonly string[];
  readonly workloads: readonly Workload[];
  readonly services: readonly Service[];
  readonly policies: readonly Policy[];
  readonly #directory: string;
  readonly #kustomization: Kustomization;

  /** @param name its folder below deploy/kubernetes/overlays */
  constructor(name: string) {
    this.#directory = `deploy/kubernetes/overlays/${name}`;
    this.header = read(`${this.#directory}/kustomization.yaml`);
    this.#kustomization = kustomizationIn(this.#directory);
    this.namespace = this.#kustomization.namespace;
    this.configurations = this.#kustomization.configMapGenerator.map((map) => map.name);
    const objects = objectsIn(this.#directory);
    this.workloads = objects.filter((one): one is Workload => /^(?:StatefulSet|Deployment)$/.test(one.kind));
    this.services = objects.filter((one) => one.kind === 'Service');
    this.policies = objects.filter((one) => one.kind === 'NetworkPolicy');
  }

  /** Pods that are nodes. */
  get nodes(): readonly Workload[] {
    return this.workloads.filter(({ metadata }) => metadata.name !== 'redis');
  }

  /** Path of the configuration of a kind of node. */
  configurationFile(kind: string): string {
    const map = this.#kustomization.configMapGenerator.find(({ name }) => name === kind);
    const [, file = ''] = map?.files[0].split('=') ?? [];
    return fileURLToPath(new URL(`../../../${this.#directory}/${file}`, import.meta.url));
  }
}

const kustomizationIn = (directory: string): Kustomization =>
  (readYaml(`${directory}/kustomization.yaml`) as [Kustomization])[0];

/** The objects of a folder, and of those that it builds on. */
function objectsIn(directory: string): readonly (Workload | Service | Policy)[] {
  return kustomizationIn(directory).resources.flatMap((path) =>
    path.endsWith('.yaml')
      ? (readYaml(`${directory}/${path}`) as (Workload | Service | Policy)[])
      : objectsIn(`${directory}/${path}`),
  );
}
