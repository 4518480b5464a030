import { Option } from 'commander';

import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { createCommand, createGroup, examples, type Subcommand } from '../console/subcommand.js';

/** Options of all commands about nodes. */
export interface NodesOptions extends DaemonOptions {
  readonly json?: boolean;
}

/** Options of `nodes drain`. */
export interface DrainOptions extends NodesOptions {
  readonly wait?: boolean;
  /** The node is the worker at the address itself. */
  readonly self?: boolean;
}

/** Options of `nodes register`. */
export interface RegisterOptions extends NodesOptions {
  readonly label?: Readonly<Record<string, string>>;
  readonly capacity?: string;
}

/** `nodes`: the nodes of a cluster. */
export const nodesSubcommand: Subcommand = (context) =>
  createGroup(context, 'nodes')
    .summary('list, register, drain and remove the nodes of a cluster')
    .description('Lists the nodes of a cluster, and adds and removes the workers of a gateway.')
    .addCommand(listCommand(context))
    .addCommand(registerCommand(context))
    .addCommand(drainCommand(context))
    .addCommand(undrainCommand(context))
    .addCommand(removeCommand(context));

const withNodesOptions = (context: Context, name: string) =>
  withDaemonOptions(createCommand(context, `nodes ${name}`)).option('--json', 'print JSON');

const listCommand = (context: Context) =>
  withNodesOptions(context, 'list')
    .summary('list the nodes')
    .description('Lists the nodes: their states, what they carry, and where they are.')
    .addHelpText(
      'after',
      examples('shell-adapter nodes list', "shell-adapter nodes list --json | jq -r '.nodes[].node'"),
    )
    .action(async (options: NodesOptions) => {
      const { listNodes } = await import('./manage-nodes.js');
      await listNodes(context, options);
    });

const registerCommand = (context: Context) =>
  withNodesOptions(context, 'register')
    .summary('add a worker to a gateway')
    .description('Adds a worker to the nodes of a gateway, or changes it, and connects to it.')
    .argument('<node>', 'cluster.name of the worker')
    .argument('<url>', 'where its cluster.link_port is reached')
    .addOption(
      new Option('--label <name=value>', 'a label, instead of those of its configuration; may be repeated').argParser(
        readLabel,
      ),
    )
    .option('--capacity <sessions>', 'most sessions; by default what the worker says itself')
    .addHelpText(
      'after',
      examples(
        'shell-adapter nodes register worker-1 https://10.0.0.7:8088',
        'shell-adapter nodes register vm-17 https://10.0.0.17:8088 --label sandbox=a1b2',
      ),
    )
    .action(async (node: string, url: string, options: RegisterOptions) => {
      const { registerNode } = await import('./manage-nodes.js');
      await registerNode(context, { node, url }, options);
    });

const drainCommand = (context: Context) =>
  withNodesOptions(context, 'drain')
    .summary('have a node take no new sessions')
    .description('Has a node take no new sessions and commands without one. What runs there goes on.')
    .argument('[node]', 'name of the node')
    .option('--self', 'the worker of this machine, at its own port, and not through a gateway')
    .option('--wait', 'wait until nothing runs there any more')
    .addHelpText(
      'after',
      examples(
        'shell-adapter nodes drain worker-1 --wait',
        'shell-adapter nodes drain --self --wait --config worker.yaml',
      ),
    )
    .action(async (node: string | undefined, options: DrainOptions) => {
      const { drainNode } = await import('./manage-nodes.js');
      const { drainSelf } = await import('./drain-self.js');
      if ((node === undefined) !== (options.self === true)) {
        throw new UsageError('give the name of a node, or --self for the worker of this machine');
      }
      if (node === undefined) await drainSelf(context, options);
      else await drainNode(context, { node, drain: true }, options);
    });

const undrainCommand = (context: Context) =>
  withNodesOptions(context, 'undrain')
    .summary('have a node take new sessions again')
    .description('Has a node that was drained take new sessions again.')
    .argument('<node>', 'name of the node')
    .addHelpText('after', examples('shell-adapter nodes undrain worker-1'))
    .action(async (node: string, options: NodesOptions) => {
      const { drainNode } = await import('./manage-nodes.js');
      await drainNode(context, { node, drain: false }, options);
    });

const removeCommand = (context: Context) =>
  withNodesOptions(context, 'remove')
    .summary('remove a worker from a gateway')
    .description('Removes a worker from the nodes of a gateway. What runs there counts as lost for its clients.')
    .argument('<node>', 'name of the node')
    .addHelpText('after', examples('shell-adapter nodes remove vm-17'))
    .action(async (node: string, options: NodesOptions) => {
      const { removeNode } = await import('./manage-nodes.js');
      await removeNode(context, node, options);
    });

/** Reads `NAME=VALUE`, for commander. */
function readLabel(text: string, labels: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [name = '', ...value] = text.split('=');
  return { ...labels, [name]: value.join('=') };
}
