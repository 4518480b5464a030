import type { TypingProgram, TypingTable } from '../model.js';
import {
  type ProgramExamples,
  type ProgramFamily,
  splitOptions,
  typedCode,
  wordsOf,
  type WrapperSpec,
  type WrapperTable,
} from '../program-family.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { each, flags, type ProgramCall, type ProgramSpec, type ProgramTable, valued } from '../subject/program-spec.js';

/** Commands of this family, by class. */
const EXAMPLES: ProgramExamples = {
  read: ['docker ps'],
  execute: ['docker exec c ls', 'docker-compose up -d', 'docker-compose run -T c ls', 'podman unshare ls'],
  network: ['kubectl get pods', 'helm -n x list', 'k9s', 'terraform plan'],
  interactive: ['docker exec -it c sh', 'docker-compose exec c sh', 'kubectl exec pod -it -- sh', 'lxc shell x'],
  destructive: ['vagrant destroy', "vagrant ssh -c 'rm x'"],
};

const text = { operands: 'text' } as const;
const show: ProgramSpec = { class: 'read', ...text };
const run: ProgramSpec = { class: 'execute', ...text };
const fetch: ProgramSpec = { class: 'network', ...text };
const publish: ProgramSpec = { class: 'exfiltration', reason: 'publishes files', ...text };

/** Subcommands that most object kinds of a container engine share. */
const objectCommands: ProgramSpec = {
  class: 'persistence',
  reason: 'changes what the machine runs',
  ...text,
  subcommands: {
    ...each('ls list inspect df info ps logs show history events', show),
    ...each('rm remove prune leave down kill reset', { class: 'destructive', ...text }),
    ...each('create pull use import export build tag save load init', run),
    push: publish,
  },
};

const stops: ProgramSpec = { class: 'destructive', reason: 'stops containers', ...text };

const isolation = { class: 'privilege', reason: 'weakens the isolation of a container' } as const;

/** Options of commands that start a program in a container. */
const CONTAINER_OPTIONS = {
  '--privileged': isolation,
  ...each('--cap-add --device --security-opt --pid --ipc --userns --cgroupns --device-cgroup-rule', {
    ...isolation,
    value: 'text',
  }),
  ...each('--mount --volumes-from', {
    class: 'privilege',
    reason: 'gives a container access to files of this machine',
    value: 'text',
  }),
  ...each('-v --volume', { value: 'mount' }),
  ...each('--net --network', { ...isolation, value: 'text', harmless: /^(?!host$|container:|ns:)/ }),
  ...each('--env-file --label-file', { value: 'settings' }),
  ...each('--cidfile', { value: 'write' }),
  ...flags(
    '-d -i -t -T -q -P --rm --init --detach --interactive --tty --read-only --publish-all --quiet --no-deps --no-TTY',
  ),
  ...flags('--no-healthcheck --oom-kill-disable --service-ports --use-aliases --build --remove-orphans --quiet-pull'),
  ...valued('-a -c -e -h -l -m -p -u -w --add-host --annotation --attach --blkio-weight --cap-drop --cgroup-parent'),
  ...valued('--container --cpus --cpu-shares --cpuset-cpus --detach-keys --dns --dns-option --dns-search --domainname'),
  ...valued('--entrypoint --env --expose --gpus --group-add --health-cmd --health-interval --hostname --index --ip'),
  ...valued('--label --link --log-driver --log-opt --memory --memory-swap --name --namespace --network-alias'),
  ...valued('--pids-limit --platform --publish --pull --restart --runtime --shm-size --stop-signal --stop-timeout'),
  ...valued('--storage-opt --sysctl --tmpfs --ulimit --user --uts --volume-driver --workdir -n'),
} as const satisfies ProgramSpec['options'];

const containerRun: ProgramSpec = { class: 'execute', ...text, stopsAtOperand: true, options: CONTAINER_OPTIONS };

const compose: ProgramSpec = {
  ...run,
  options: {
    ...each('--env-file', { value: 'settings' }),
    ...flags('--compatibility --dry-run --all-resources --verbose --tls --tlsverify --no-ansi'),
    ...valued('-f -p -H -c --file --project-name --profile --project-directory --parallel --ansi --progress --host'),
    ...valued('--context --log-level --tlscacert --tlscert --tlskey'),
  },
  subcommands: {
    ...each('ps logs images top ls', show),
    ...each('config convert', { class: 'exfiltration', reason: 'prints the variables of services', ...text }),
    ...each('down rm kill', { class: 'destructive', ...text }),
    ...each('stop restart pause', stops),
    create: { ...run, options: CONTAINER_OPTIONS },
    push: publish,
    cp: { class: 'write', operands: 'into' },
  },
};

const clusterRead: ProgramSpec = { ...fetch, judge: judgeClusterSecrets };

const clusterChange = { class: 'persistence', reason: 'changes a cluster', ...text } as const;

/** Clients of clusters: subcommands that do not only read change something. */
const cluster: ProgramSpec = {
  ...clusterChange,
  options: valued(
    '-n --namespace --context --kube-context --cluster --kubeconfig --user -s --server --token --as --as-group --request-timeout -v --v --cache-dir --certificate-authority --client-certificate --client-key --tls-server-name --profile --registry-config --repository-config',
  ),
  subcommands: {
    ...each(
      'get describe logs explain version api-resources api-versions top events diff wait cluster-info',
      clusterRead,
    ),
    ...each('options help completion kustomize status whoami projects project', clusterRead),
    ...each('delete drain cordon scale replace', { class: 'destructive', ...text }),
    ...each('port-forward proxy', {
      ...clusterRead,
      options: {
        '--address': {
          class: 'exfiltration',
          reason: 'accepts connections from other machines',
          value: 'text',
          harmless: /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/,
        },
      },
    }),
    config: {
      ...clusterChange,
      subcommands: each('view current-context get-contexts get-clusters get-users', clusterRead),
    },
    rollout: { ...clusterChange, subcommands: each('status history', clusterRead) },
    auth: { ...clusterChange, subcommands: each('can-i whoami', clusterRead) },
    cp: { class: 'exfiltration', reason: 'copies files from or to a cluster', ...text },
  },
};

/** `kubectl get secret -o yaml` prints the content of the secret. The options may stand before the subcommand. */
function judgeClusterSecrets(subject: CommandAnalysis, { args, label }: ProgramCall): void {
  const isNamed = args.some(({ shape }) => /^(?:\S+,)?secrets?(?:$|[/,.])/.test(shape));
  const isShown = subject.args.some(({ shape }) => /^(?:-o|--output|--template)/.test(shape));
  const isRaw = label.endsWith(' view') && subject.args.some(({ shape }) => shape.startsWith('--raw'));
  if ((isNamed && isShown) || isRaw) subject.add('exfiltration', 'reads credentials of a cluster');
}

/** Containers, virtual machines, clusters, and the infrastructure below them. */
const SPECS: ProgramTable = {
  ...each('docker podman nerdctl', {
    ...run,
    options: {
      ...flags('-D -r --debug --tls --tlsverify --remote --noout --syslog --help --version -v'),
      ...valued('-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey -n --namespace'),
      ...valued('--url --connection --identity --root --runroot --storage-driver --storage-opt --runtime --tmpdir'),
      ...valued(
        '--address --data-root --cni-path --cgroup-manager --events-backend --snapshotter --module --volumepath',
      ),
    },
    subcommands: {
      ...each('ps ls list images logs inspect version info top stats port diff history search events', show),
      ...each('run create', containerRun),
      build: {
        ...run,
        judge: (subject, { args }) => {
          const context = args.at(-1);
          if (context) subject.readTree(context);
        },
      },
      ...each('load import', {
        ...run,
        judge: (subject) => {
          const { stdin } = subject.command;
          if (stdin?.kind === 'unknown' && subject.inquiry.programs.has(stdin.what, 'fetches'))
            subject.add('obfuscated', `${subject.program ?? 'it'} loads an image from another machine`);
        },
      }),
      ...each('rm rmi prune kill', { class: 'destructive', ...text }),
      ...each('stop restart pause', stops),
      ...each('image volume network builder buildx manifest context system', { ...objectCommands, ...run }),
      ...each('swarm service stack secret config node plugin trust checkpoint machine', objectCommands),
      ...each('pull', fetch),
      ...each('push', publish),
      ...each('login', { class: 'exfiltration', reason: 'handles credentials', ...text }),
      cp: { class: 'write', operands: 'into' },
      compose,
    },
  }),
  ...each('crictl ctr virsh vagrant lxc incus multipass', {
    ...run,
    subcommands: each('rm rmi rmp remove delete destroy undefine purge', { class: 'destructive', ...text }),
  }),
  ...each('docker-compose podman-compose', compose),
  ...each('kubectl oc', cluster),
  ...each('helm', {
    ...cluster,
    subcommands: {
      ...each('list ls status get history search repo show template lint version env dependency pull plugin', fetch),
      ...each('uninstall delete rollback', { class: 'destructive', ...text }),
    },
  }),
  k9s: fetch,
  ...each('terraform tofu pulumi', {
    ...run,
    subcommands: {
      ...each('show output', {
        ...show,
        options: each('-json --json -raw --raw', { class: 'exfiltration', reason: 'prints sensitive values' }),
      }),
      ...each('version validate graph providers', show),
      fmt: { class: 'write', operands: 'write' },
      ...each('init plan refresh', fetch),
      ...each('apply import state taint up', { class: 'persistence', reason: 'changes infrastructure', ...text }),
      destroy: { class: 'destructive', ...text },
    },
  }),
};

/** Options of `docker run` and `docker exec` that take a value, so that the next argument is not the image. */
const TYPED_OPTIONS = wordsOf(
  '-e -v -p -w -u -h -l -m -c --name --network --net --env --env-file --volume --publish --workdir --user --entrypoint --hostname --mount --label --memory --cpus --platform --add-host --device --restart --pull --gpus --ulimit --shm-size --tmpfs --security-opt --cap-add --cap-drop --detach-keys --pid --ipc',
);

/** `-i`, `-t`, `-it`, `--interactive`, `--stdin`, `--tty`. */
const ASKS_FOR_INPUT = /^(?:-[a-su-zA-Z]*[it][a-z]*|--(?:interactive|stdin|tty)(?:=true)?)$/;

/** Docker and similar tools: a container receives typed input only on request. */
const typedContainer: TypingProgram['takes'] = (args) => {
  const at = args.findIndex((arg) => /^(?:run|exec|attach|start)$/.test(arg));
  if (at === -1) return false;
  const { options, operands } = splitOptions(args.slice(at + 1), TYPED_OPTIONS);
  if (args[at] === 'attach') return true;
  // Compose allocates a terminal by default.
  if (args.slice(0, at).includes('compose')) return !options.some((option) => /^-[a-zA-Z]*[Td]/.test(option));
  return options.some((option) => ASKS_FOR_INPUT.test(option)) && !isInformation(operands.slice(1));
};

/** Whether the program in the container only prints its version, or how it is used. */
const isInformation = (words: readonly string[]): boolean =>
  words.length === 2 && /^(?:-v|-V|--version|-h|--help)$/.test(words[1] ?? '');

/** kubectl: `exec -it POD -- sh`, with its options before or after the operand. */
const typedCluster: TypingProgram['takes'] = (args) => {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  if (own.includes('edit')) return true;
  return own.some((arg) => /^(?:exec|run|attach|debug)$/.test(arg)) && own.some((arg) => ASKS_FOR_INPUT.test(arg));
};

/** Programs that pass typed input to a program in a container. */
const TYPING: TypingTable = {
  ...each('docker podman nerdctl', typedCode(typedContainer)),
  ...each(
    'docker-compose podman-compose',
    typedCode((args) => typedContainer(['compose', ...args])),
  ),
  ...each('kubectl oc', typedCode(typedCluster)),
  ...each(
    'lxc incus',
    typedCode((args) => /^(?:shell|console|exec)$/.test(args[0] ?? '')),
  ),
};

const container: WrapperSpec = { class: 'execute', skips: 1, isElsewhere: true, options: CONTAINER_OPTIONS };

/** Programs whose subcommands run a program in a container. */
const inContainers = (programs: string, subcommands: string): WrapperTable =>
  Object.fromEntries(
    programs.split(' ').flatMap((program) => subcommands.split(' ').map((name) => [`${program} ${name}`, container])),
  );

/** Subcommands that run a program in a container or in a virtual machine. */
const WRAPPERS: WrapperTable = {
  ...inContainers('docker podman nerdctl crictl kubectl oc lxc incus docker-compose podman-compose multipass', 'exec'),
  ...inContainers('docker-compose podman-compose', 'run'),
  'podman unshare': { class: 'execute' },
  'vagrant ssh': { class: 'network', options: each('-c --command', { value: 'shell' }), bare: 'network' },
};

/** Containers, virtual machines, clusters, and the infrastructure below them. */
export const CONTAINERS: ProgramFamily = {
  name: 'containers',
  programs: SPECS,
  wrappers: WRAPPERS,
  typing: TYPING,
  traits: { runnable: 'docker podman kubectl terraform' },
  equivalents: {
    'docker compose': 'docker-compose',
    'podman compose': 'docker-compose',
    'nerdctl compose': 'docker-compose',
    'docker container': 'docker',
    'podman container': 'podman',
    'nerdctl container': 'nerdctl',
  },
  startupPaths: ['~/.kube/**', '~/.docker/**'],
  examples: EXAMPLES,
};
