import { withDaemonOptions } from '../connect/daemon-address.js';
import type { AttachOptions } from './follow-session.js';
import { UsageError } from '../console/failure.js';
import { createCommand, examples, readNumber, type Subcommand } from '../options/subcommand.js';

/** `attach`: follows a session. */
export const attachSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'attach'))
    .summary('follow a session')
    .description(
      'Shows what the commands of a session print, as it comes, until the session ends or Ctrl-C. The session goes on.',
    )
    .argument('<id>', 'the session')
    .option(
      '--from-seq <number>',
      'begin with this event; 0 shows all that is still kept',
      readNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, isWhole: true }),
    )
    .option(
      '--input',
      'type into what runs: at a terminal every key, Ctrl-] leaves; otherwise lines. Without it, nothing can be changed',
    )
    .option('--observe', 'only look: commands never wait for this client, and output that comes too fast is skipped')
    .option('--json', 'print each event as a line of JSON')
    .addHelpText('after', HELP)
    .action(async (id: string, options: AttachOptions) => {
      if (options.observe === true && options.input === true)
        throw new UsageError('--observe only looks: leave out --input, or follow the session without --observe');
      const { followSession } = await import('./follow-session.js');
      await followSession(context, id, options);
    });

const HELP = `${examples('shell-adapter attach session_ID', 'shell-adapter attach session_ID --from-seq 0 --json')}

Exit codes: 0 left by Ctrl-C, or the session has ended; 1 there is no such session, or the daemon has gone.`;
