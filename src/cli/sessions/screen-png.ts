import { createRequire } from 'node:module';

import { screenSvg, type ScreenView } from '../../core/screen.js';
import { CommandLineError } from '../console/failure.js';

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
export function screenPng(screen: ScreenView): Uint8Array {
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
