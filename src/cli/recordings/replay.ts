import { withDaemonOptions } from '../connect/daemon-address.js';
import { createCommand, examples, readNumber, type Subcommand } from '../options/subcommand.js';
import type { ReplayOptions } from './replay-recording.js';

const MAX_SPEED = 1000;
/** A day. */
const MAX_IDLE_S = 86_400;

/** `replay`: plays a recording at this terminal. */
export const replaySubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'replay'))
    .summary('play a recording')
    .description('Plays a recording of the daemon, or a file in the format asciicast v2, with its timing.')
    .argument('<id-or-file>', 'id of a recording, or a file')
    .option('--speed <factor>', 'how much faster', readNumber({ min: 0.01, max: MAX_SPEED, isWhole: false }))
    .option(
      '--idle <seconds>',
      'longest pause between two events',
      readNumber({ min: 0, max: MAX_IDLE_S, isWhole: false }),
    )
    .addHelpText('after', HELP)
    .action(async (source: string, options: ReplayOptions) => {
      const { replayRecording } = await import('./replay-recording.js');
      await replayRecording(context, source, options);
    });

const HELP = `${examples('shell-adapter replay recording_ID', 'shell-adapter replay deploy.cast --speed 4 --idle 1')}

Keys: space pauses and goes on; the right and left arrows move by 5 seconds; n and p jump to the next and previous
command; q or Ctrl-C ends it.`;
