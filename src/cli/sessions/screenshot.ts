import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

import { screenSvg, type ScreenView } from '../../core/screen.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { CommandLineError, UsageError } from '../console/failure.js';
import { type JsonOption, printAnswer } from '../console/subcommand.js';

/** Prints what a terminal shows, or draws it in the format that the name of the file says. */
export async function takeScreenshot(
  context: Context,
  options: DaemonOptions & JsonOption & { readonly output?: string },
  id: string,
): Promise<void> {
  const { output } = options;
  if (output !== undefined && !/\.(svg|png)$/.test(output)) {
    throw new UsageError(`${output}: pictures are SVG or PNG: give a file that ends in .svg or .png`);
  }
  const target = id.startsWith('command_') ? { command_id: id } : { session_id: id };
  const screen = await withDaemon(options, context, (client) =>
    client.request('read_screen', { ...target, cells: output !== undefined }),
  );
  if (output === undefined) {
    await printAnswer(context, options, screen, ({ text }) => text);
    return;
  }
  const picture = output.endsWith('.png') ? screenPng(screen) : screenSvg(screen);
  try {
    await writeFile(resolve(context.cwd, output), picture);
  } catch (error) {
    throw new CommandLineError(`${output} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** Pixels of the picture for each pixel of the drawing, so that text stays sharp. */
const ZOOM = 2;
/** Optional dependencies. */
const RENDERER = '@resvg/resvg-js';
const FONTS = 'dejavu-fonts-ttf';
const FACES = ['', '-Bold', '-Oblique', '-BoldOblique'] as const;

/** The part of @resvg/resvg-js that is used. */
interface Renderer {
  readonly Resvg: new (
    svg: string,
    options: {
      readonly fitTo: { readonly mode: 'zoom'; readonly value: number };
      readonly font: {
        readonly fontFiles: readonly string[];
        readonly loadSystemFonts: boolean;
        readonly defaultFontFamily: string;
        readonly monospaceFamily: string;
      };
    },
  ) => { render(): { asPng(): Uint8Array } };
}

/**
 * Draws a screen that was read with its cells as a picture in PNG.
 * @throws CommandLineError when the optional packages are not installed
 */
function screenPng(screen: ScreenView): Uint8Array {
  const { Resvg } = fromPackage(RENDERER, () => packages(RENDERER) as Renderer);
  const family = 'DejaVu Sans Mono';
  const resvg = new Resvg(screenSvg(screen), {
    fitTo: { mode: 'zoom', value: ZOOM },
    font: {
      fontFiles: fromPackage(FONTS, () =>
        FACES.map((face) => packages.resolve(`${FONTS}/ttf/DejaVuSansMono${face}.ttf`)),
      ),
      // The font has no Chinese, Japanese or Korean characters and no emoji. Looking for other fonts takes time.
      loadSystemFonts: (screen.cells ?? []).some((row) => row.some(({ width }) => width > 1)),
      defaultFontFamily: family,
      monospaceFamily: family,
    },
  });
  return resvg.render().asPng();
}

const packages = createRequire(import.meta.url);

/** Calls `load`, which needs an optional package. */
function fromPackage<T>(name: string, load: () => T): T {
  try {
    return load();
  } catch (error) {
    throw notInstalled(name, error);
  }
}

/** Both packages are optional, so that an installation without them works. */
const notInstalled = (name: string, cause: unknown): CommandLineError =>
  new CommandLineError(`PNG needs the package ${name}, which is not installed or does not fit this machine`, {
    hint: `Install it beside shell-adapter: npm install ${RENDERER} ${FONTS}. A file that ends in .svg needs nothing.`,
    cause,
  });
