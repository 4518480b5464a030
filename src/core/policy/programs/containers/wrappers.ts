import type { WrapperSpec, WrapperTable } from '../../family/wrapper-spec.js';
import { each } from '../../subject/program-spec.js';
import { CONTAINER_OPTIONS } from './table.js';

const container: WrapperSpec = { class: 'execute', skips: 1, isElsewhere: true, options: CONTAINER_OPTIONS };

/** Programs whose subcommands run a program in a container. */
const inContainers = (programs: string, subcommands: string): WrapperTable =>
  Object.fromEntries(
    programs.split(' ').flatMap((program) => subcommands.split(' ').map((name) => [`${program} ${name}`, container])),
  );

/** Subcommands that run a program in a container or in a virtual machine. */
export const WRAPPERS: WrapperTable = {
  ...inContainers('docker podman nerdctl crictl kubectl oc lxc incus docker-compose podman-compose multipass', 'exec'),
  ...inContainers('docker-compose podman-compose', 'run'),
  'podman unshare': { class: 'execute' },
  'vagrant ssh': { class: 'network', options: each('-c --command', { value: 'shell' }), bare: 'network' },
};
