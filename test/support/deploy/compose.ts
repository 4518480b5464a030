import { readYaml } from './files.js';

/** Variables of a container. */
export type Variables = Readonly<Record<string, string>>;

/** A service of a compose file. */
export interface ComposeService {
  readonly hostname?: string;
  readonly environment?: Variables;
  readonly env_file?: string;
  readonly volumes: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
}

/** A compose file of a cluster. */
export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: object;
}

/** Reads a compose file of `deploy/docker`. */
export const readCompose = (name: string): ComposeFile => (readYaml(`deploy/docker/${name}`) as [ComposeFile])[0];

/** Its services that are nodes of the cluster, with their names. */
export const nodesOf = ({ services }: ComposeFile): readonly (readonly [string, ComposeService])[] =>
  Object.entries(services).filter(([, { environment }]) => environment?.['SHELL_ADAPTER_CLUSTER_ROLE'] !== undefined);
