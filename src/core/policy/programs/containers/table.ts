import { kindOf } from '../../paths/path-kinds.js';
import { resolvePath } from '../../paths/paths.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { parseArguments } from '../../subject/options.js';
import { each, type ProgramSpec, type ProgramTable, valued } from '../../subject/program-spec.js';

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

const MOUNTS_FILES = 'gives a container access to files of this machine';
const VOLUMES = valued('-v --volume');

/** A container may get the files of the workspace, as every program may, and volumes of its own. */
function judgeVolumes(subject: CommandAnalysis): void {
  const { inquiry, scope, program = 'it' } = subject;
  const isOwn = (path: string | undefined) => kindOf(path, inquiry.facts) === 'workspace';
  const { options } = parseArguments(subject.args.slice(1), { options: containerRun.options, stopsAtOperand: true });
  for (const { name, value } of options) {
    if (!Object.hasOwn(VOLUMES, name)) continue;
    const source = value?.value?.split(':')[0];
    const isNamed = source !== undefined && /^\w[\w.-]*$/.test(source);
    const isHarmless = isNamed || (source !== undefined && resolvePath(source, scope.directories).every(isOwn));
    if (!isHarmless) subject.add('privilege', `${program} ${name} ${MOUNTS_FILES}`);
  }
}

const containerRun = {
  class: 'execute',
  ...text,
  stopsAtOperand: true,
  judge: judgeVolumes,
  options: {
    ...each('--privileged --cap-add --device --security-opt --pid --ipc --userns', {
      class: 'privilege',
      reason: 'weakens the isolation of a container',
      value: 'text',
    }),
    ...each('--mount --volumes-from', { class: 'privilege', reason: MOUNTS_FILES, value: 'text' }),
    ...VOLUMES,
    ...each('--net --network', {
      class: 'privilege',
      reason: 'weakens the isolation of a container',
      value: 'text',
      harmless: /^(?!host$|container:|ns:)/,
    }),
    ...valued(
      '-e -p -w -u -h -m --env --publish --workdir --user --name --entrypoint --env-file --label -l --memory --cpus',
    ),
  },
} as const satisfies ProgramSpec;

const compose: ProgramSpec = {
  ...run,
  options: valued('-f --file -p --project-name --profile --env-file --project-directory --parallel --ansi --progress'),
  subcommands: {
    ...each('ps logs images top ls', show),
    ...each('config convert', { class: 'exfiltration', reason: 'prints the variables of services', ...text }),
    ...each('down rm kill', { class: 'destructive', ...text }),
    ...each('stop restart pause', stops),
    push: publish,
  },
};

const clusterRead: ProgramSpec = { ...fetch, judge: judgeClusterSecrets };

const clusterChange = { class: 'persistence', reason: 'changes a cluster', ...text } as const;

/** Clients of clusters: subcommands that do not only read change something. */
const cluster: ProgramSpec = {
  ...clusterChange,
  options: valued(
    '-n --namespace --context --kube-context --cluster --kubeconfig --user -s --server --token --as --as-group --request-timeout',
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

/** `kubectl get secret -o yaml` prints the content of the secret. */
function judgeClusterSecrets(subject: CommandAnalysis): void {
  const isNamed = subject.args.some(({ shape }) => /^(?:\S+,)?secrets?(?:$|[/,.])/.test(shape));
  const isShown = subject.args.some(({ shape }) => /^(?:-o|--output|--template)/.test(shape));
  const isRaw =
    subject.args.some(({ shape }) => shape === '--raw') && subject.args.some(({ shape }) => shape === 'view');
  if ((isNamed && isShown) || isRaw) subject.add('exfiltration', 'reads credentials of a cluster');
}

/** Containers, virtual machines, clusters, and the infrastructure below them. */
export const SPECS: ProgramTable = {
  ...each('docker podman nerdctl', {
    ...run,
    options: valued('-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey -n --namespace'),
    subcommands: {
      ...each('ps ls list images logs inspect version info top stats port diff history search events', show),
      ...each('run create', containerRun),
      build: {
        ...run,
        judge: (subject) => {
          const context = subject.args.at(-1);
          if (context && subject.args.length > 1) subject.readTree(context);
        },
      },
      ...each('rm rmi prune kill', { class: 'destructive', ...text }),
      ...each('stop restart pause', stops),
      ...each('image volume network builder buildx manifest context system', { ...objectCommands, ...run }),
      ...each('swarm service stack secret config node plugin trust checkpoint machine', objectCommands),
      ...each('pull', fetch),
      ...each('push', publish),
      ...each('login', { class: 'exfiltration', reason: 'handles credentials', ...text }),
      cp: { class: 'write', operands: 'last-written' },
      compose,
    },
  }),
  ...each('crictl ctr virsh vagrant lxc incus multipass', {
    ...run,
    subcommands: each('rm rmi rmp remove delete destroy undefine purge', { class: 'destructive', ...text }),
  }),
  'docker-compose': compose,
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
      ...each('show output version validate graph providers', show),
      fmt: { class: 'write', operands: 'write' },
      ...each('init plan refresh', fetch),
      ...each('apply import state taint up', { class: 'persistence', reason: 'changes infrastructure', ...text }),
      destroy: { class: 'destructive', ...text },
    },
  }),
};
