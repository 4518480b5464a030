import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { CommandLineError } from '../console/failure.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';

interface ProtocolOptions {
  readonly write?: string;
  readonly check?: string;
}

/** `protocol`: prints the page of the wire protocol, generated from the tables that the daemon uses. */
export const protocolSubcommand: Subcommand = (context) =>
  createCommand(context, 'protocol')
    .summary('print the wire protocol, as Markdown')
    .description('Prints the page that documents the wire protocol, as Markdown.')
    .option('--write <file>', 'write it to a file')
    .option('--check <file>', 'exit with 1 when a file does not hold exactly that page')
    .addHelpText(
      'after',
      examples('shell-adapter protocol | less', 'shell-adapter protocol --check docs/reference/protocol.md'),
    )
    .action(async ({ write, check }: ProtocolOptions) => {
      const { renderProtocolDocument } = await import('../../core/protocol/document.js');
      const page = renderProtocolDocument();
      if (write !== undefined) await writeFile(resolve(context.cwd, write), page);
      if (check !== undefined) await checkPage(resolve(context.cwd, check), check, page);
      if (write === undefined && check === undefined) await context.stdout.write(page);
    });

async function checkPage(path: string, shownPath: string, page: string): Promise<void> {
  const hint = 'Make it again: npm run docs';
  let found: string;
  try {
    found = await readFile(path, 'utf8');
  } catch (cause) {
    // Missing or not readable: the system's message contains the reason.
    throw new CommandLineError(`${shownPath} cannot be read: ${(cause as Error).message}`, { hint, cause });
  }
  if (found === page) return;
  throw new CommandLineError(`${shownPath} is not current: the tables in src/core/protocol have changed since`, {
    hint,
  });
}
