import type { WrapperSpec, WrapperTable } from '../../family/wrapper-spec.js';
import { each, valued } from '../../subject/program-spec.js';

const container: WrapperSpec = {
  class: 'execute',
  skips: 1,
  isElsewhere: true,
  options: valued('-e -u -w --env --user --workdir --env-file --detach-keys -n --namespace -c --container --index'),
};

/** Subcommands that run a program in a container or in a virtual machine. */
export const WRAPPERS: WrapperTable = {
  'docker exec': container,
  'podman exec': container,
  'nerdctl exec': container,
  'crictl exec': container,
  'podman unshare': { class: 'execute' },
  'kubectl exec': container,
  'oc exec': container,
  'lxc exec': container,
  'docker-compose exec': container,
  'docker-compose run': container,
  'vagrant ssh': { class: 'network', options: each('-c --command', { value: 'shell' }), bare: 'network' },
};
