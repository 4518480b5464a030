import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { ScreenView } from '../../core/screen.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { CommandLineError, UsageError } from '../console/failure.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';

interface ScreenshotOptions extends DaemonOptions {
  readonly output?: string;
  readonly json?: boolean;
}

/** `screenshot`: shows what a terminal shows. */
export const screenshotSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'screenshot'))
    .summary('show what a terminal shows')
    .description(
      'Shows the screen of a command with a terminal: of the one that runs in a session, or of its last one. Prints it as text, or ' +
        'draws it into a file.',
    )
    .argument('<session-or-command>', 'id of a session, or of a command')
    .option('-o, --output <file>', 'draw a picture with its colours: a file that ends in .svg or .png')
    .option('--json', 'print JSON, with the position of the cursor')
    .addHelpText(
      'after',
      examples('shell-adapter screenshot session_ID', 'shell-adapter screenshot session_ID -o vim.png'),
    )
    .action(async (id: string, { output, json = false, ...options }: ScreenshotOptions) => {
      if (output !== undefined && !/\.(svg|png)$/.test(output)) {
        throw new UsageError(`${output}: pictures are SVG or PNG: give a file that ends in .svg or .png`);
      }
      const target = id.startsWith('command_') ? { command_id: id } : { session_id: id };
      const screen = await withDaemon(options, context, (client) =>
        client.request('read_screen', { ...target, cells: output !== undefined }),
      );
      if (output === undefined) {
        await context.stdout.write(`${json ? JSON.stringify(screen, null, 2) : screen.text}\n`);
        return;
      }
      const picture = await draw(screen, output);
      try {
        await writeFile(resolve(context.cwd, output), picture);
      } catch (error) {
        throw new CommandLineError(`${output} cannot be written: ${(error as Error).message}`, { cause: error });
      }
    });

/** Draws a screen in the format that the name of the file says. */
async function draw(screen: ScreenView, file: string): Promise<string | Uint8Array> {
  if (file.endsWith('.png')) {
    const { screenPng } = await import('./screen-png.js');
    return screenPng(screen);
  }
  const { screenSvg } = await import('../../core/screen.js');
  return screenSvg(screen);
}
