import type { ProgramFamily } from '../program-catalog.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { type ProgramCall } from '../subject/program-spec.js';
import { splitOptions, type Takes } from '../typed-input.js';

const ENTRIES = String.raw`
%container: read
  --privileged ! privilege weakens the isolation of a container
  --cap-add --device --security-opt --pid --ipc --userns --cgroupns --device-cgroup-rule = text ! privilege \
      weakens the isolation of a container
  --mount --volumes-from = text ! privilege gives a container access to files of this machine
  -v --volume = mount
  --net --network = text ! privilege weakens the isolation of a container unless /^(?!host$|container:|ns:)/
  --env-file --label-file = settings
  --cidfile = write
  -d -i -t -T -q -P --rm --init --detach --interactive --tty --read-only --publish-all --quiet --no-deps --no-TTY \
      --no-healthcheck --oom-kill-disable --service-ports --use-aliases --build --remove-orphans --quiet-pull
  -a -c -e -h -l -m -p -u -w --add-host --annotation --attach --blkio-weight --cap-drop --cgroup-parent \
      --container --cpus --cpu-shares --cpuset-cpus --detach-keys --dns --dns-option --dns-search --domainname \
      --entrypoint --env --expose --gpus --group-add --health-cmd --health-interval --hostname --index --ip \
      --label --link --log-driver --log-opt --memory --memory-swap --name --namespace --network-alias --pids-limit \
      --platform --publish --pull --restart --runtime --shm-size --stop-signal --stop-timeout --storage-opt \
      --sysctl --tmpfs --ulimit --user --uts --volume-driver --workdir -n = text
%exec: read
  exec: execute
    runs after 1, elsewhere
    like %container
%cluster: read
  -n --namespace --context --kube-context --cluster --kubeconfig --user -s --server --token --as --as-group \
      --request-timeout -v --v --cache-dir --certificate-authority --client-certificate --client-key \
      --tls-server-name --profile --registry-config --repository-config = text
docker-compose podman-compose <text>: execute
  --env-file = settings
  --compatibility --dry-run --all-resources --verbose --tls --tlsverify --no-ansi
  -f -p -H -c --file --project-name --profile --project-directory --parallel --ansi --progress --host --context \
      --log-level --tlscacert --tlscert --tlskey = text
  ps logs images top ls: read
  config convert: exfiltration prints the variables of services
  down rm kill: destructive
  stop restart pause: destructive stops containers
  create: execute
    like %container
  push: exfiltration publishes files
  cp <read... into>: write
  exec run: execute
    runs after 1, elsewhere
    like %container
  typed code rule compose
  e.g. docker-compose up -d: execute; docker-compose run -T c ls: execute; docker-compose exec c sh: interactive
docker nerdctl <text>: execute
  -D -r --debug --tls --tlsverify --remote --noout --syslog --help --version -v
  -H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey -n --namespace --url --connection \
      --identity --root --runroot --storage-driver --storage-opt --runtime --tmpdir --address --data-root \
      --cni-path --cgroup-manager --events-backend --snapshotter --module --volumepath = text
  ps ls list images logs inspect version info top stats port diff history search events: read
  run create: execute
    like %container
    stops
  build <tree>: execute
    -f --file = read
    -t --tag --build-arg --target --platform --label --network --progress -o --output --cache-from --cache-to --secret \
        --ssh --add-host = text
  load import: execute
    when input fetched ! obfuscated {it} loads an image from another machine
  rm rmi prune kill: destructive
  stop restart pause: destructive stops containers
  image volume network builder buildx manifest context system: execute changes what the machine runs
    ls list inspect df info ps logs show history events: read
    rm remove prune leave down kill reset: destructive
    create pull use import export build tag save load init: execute
    push: exfiltration publishes files
  swarm service stack secret config node plugin trust checkpoint machine: persistence changes what the machine \
      runs
    like docker image
  pull: network
  push: exfiltration publishes files
  login: exfiltration handles credentials
  cp <read... into>: write
  compose: execute
    like docker-compose
  like %exec
  compose is docker-compose
  container is *
  typed code rule container
  is runnable of docker
  e.g. docker ps: read; docker exec c ls: execute; docker exec -it c sh: interactive
podman <text>: execute
  like docker
  like %exec
  unshare: execute
    runs
  compose is docker-compose
  container is *
  typed code rule container
  is runnable
  e.g. podman unshare ls: execute; podman exec c ls: execute; podman run -it i sh: interactive
crictl multipass lxc incus <text>: execute
  rm rmi rmp remove delete destroy undefine purge: destructive
  like %exec
  typed code rule instance of lxc incus
  e.g. crictl exec c ls: execute; crictl x: execute; lxc shell x: interactive; lxc exec c ls: interactive
ctr virsh <text>: execute
  rm rmi rmp remove delete destroy undefine purge: destructive
  e.g. ctr x: execute
vagrant <text>: execute
  rm rmi rmp remove delete destroy undefine purge: destructive
  ssh: network
    runs bare network
    -c --command = shell
  e.g. vagrant destroy: destructive; vagrant ssh -c 'rm x': destructive
kubectl oc <text>: persistence changes a cluster
  like %cluster
  get describe logs explain version api-resources api-versions top events diff wait cluster-info options help \
      completion kustomize status whoami projects project: network
    rule clusterSecrets
  delete drain cordon scale replace: destructive
  port-forward proxy: network
    --address = text ! exfiltration accepts connections from other machines unless \
        /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/
    rule clusterSecrets
  config: persistence changes a cluster
    view current-context get-contexts get-clusters get-users: network
      rule clusterSecrets
  rollout: persistence changes a cluster
    status history: network
      rule clusterSecrets
  auth: persistence changes a cluster
    can-i whoami: network
      rule clusterSecrets
  cp: exfiltration copies files from or to a cluster
  like %exec
  typed code rule cluster
  is runnable of kubectl
  e.g. kubectl get pods: network; kubectl exec pod -it -- sh: interactive
helm <text>: persistence changes a cluster
  like %cluster
  list ls status get history search repo show template lint version env dependency pull plugin: network
  uninstall delete rollback: destructive
  e.g. helm -n x list: network
k9s <text>: network
  e.g. k9s: network
terraform tofu pulumi <text>: execute
  show output: read
    -json --json -raw --raw ! exfiltration prints sensitive values
  version validate graph providers: read
  fmt <write>: write
  init plan refresh: network
  apply import state taint up: persistence changes infrastructure
  destroy: destructive
  is runnable of terraform
  e.g. terraform plan: network
`;

/** `kubectl get secret -o yaml` prints the content of the secret. The options may stand before the subcommand. */
function judgeClusterSecrets(subject: CommandAnalysis, { args, label }: ProgramCall): void {
  const isNamed = args.some(({ shape }) => /^(?:\S+,)?secrets?(?:$|[/,.])/.test(shape));
  const isShown = subject.args.some(({ shape }) => /^(?:-o|--output|--template)/.test(shape));
  const isRaw = label.endsWith(' view') && subject.args.some(({ shape }) => shape.startsWith('--raw'));
  if ((isNamed && isShown) || isRaw) subject.does('reads credentials of a cluster');
}

/** `-i`, `-t`, `-it`, `--interactive`, `--stdin`, `--tty`. */
const ASKS_FOR_INPUT = /^(?:-[a-su-zA-Z]*[it][a-z]*|--(?:interactive|stdin|tty)(?:=true)?)$/;

/** Docker and similar tools: a container receives typed input only on request. */
const container: Takes = (args, { subcommands }) => {
  const at = args.findIndex((arg) => /^(?:run|exec|attach|start)$/.test(arg));
  if (at === -1) return false;
  const { options, operands } = splitOptions(args.slice(at + 1), subcommands['create']?.options ?? {});
  if (args[at] === 'attach') return true;
  // Compose allocates a terminal by default.
  if (args.slice(0, at).includes('compose')) return !options.some((option) => /^-[a-zA-Z]*[Td]/.test(option));
  return options.some((option) => ASKS_FOR_INPUT.test(option)) && !isInformation(operands.slice(1));
};

/** Whether the program in the container only prints its version, or how it is used. */
const isInformation = (words: readonly string[]): boolean =>
  words.length === 2 && /^(?:-v|-V|--version|-h|--help)$/.test(words[1] ?? '');

/** kubectl: `exec -it POD -- sh`, with its options before or after the operand. */
const cluster: Takes = (args) => {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  if (own.includes('edit')) return true;
  return own.some((arg) => /^(?:exec|run|attach|debug)$/.test(arg)) && own.some((arg) => ASKS_FOR_INPUT.test(arg));
};

/** lxc and the like: these subcommands start a shell in an instance. */
const instance: Takes = ([subcommand = '']) => /^(?:shell|console|exec)$/.test(subcommand);

export const CONTAINERS: ProgramFamily = {
  name: 'containers',
  entries: ENTRIES,
  rules: {
    judges: { clusterSecrets: judgeClusterSecrets },
    typed: { container, compose: (args, known) => container(['compose', ...args], known), instance, cluster },
  },
  startupPaths: '~/.kube/** ~/.docker/**',
};
