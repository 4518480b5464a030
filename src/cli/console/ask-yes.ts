import { createInterface } from 'node:readline';

import type { Context } from './context.js';

/** Asks the person at the terminal; true for `y` or `yes`. */
export async function askYes({ stdin, stderr }: Pick<Context, 'stdin' | 'stderr'>, question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    await stderr.write(question);
    const line = await new Promise<string>((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => {
        resolve('');
      });
    });
    return /^y(?:es)?$/iu.test(line.trim());
  } finally {
    lines.close();
  }
}
