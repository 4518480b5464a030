import type { ITheme } from '@xterm/xterm';

/** Colours of the terminal on a dark page. */
const DARK: ITheme = {
  background: '#0b0e13',
  foreground: '#d7dde6',
  cursor: '#4fd1c1',
  cursorAccent: '#0b0e13',
  selectionBackground: '#2c4a63',
  black: '#1d232c',
  red: '#ff7b72',
  green: '#5fd28a',
  yellow: '#e3b341',
  blue: '#79b0ff',
  magenta: '#d6a0ff',
  cyan: '#56d4dd',
  white: '#c9d1d9',
  brightBlack: '#7d8794',
  brightRed: '#ffa198',
  brightGreen: '#7ee2a8',
  brightYellow: '#f2cc60',
  brightBlue: '#a5cbff',
  brightMagenta: '#e2c0ff',
  brightCyan: '#8ae5ec',
  brightWhite: '#ffffff',
};

/** Colours of the terminal on a light page. */
const LIGHT: ITheme = {
  background: '#fdfdfe',
  foreground: '#1f2630',
  cursor: '#0b6b64',
  cursorAccent: '#ffffff',
  selectionBackground: '#bfdcf5',
  black: '#24292f',
  red: '#b3221f',
  green: '#14703a',
  yellow: '#7a5200',
  blue: '#1a56b0',
  magenta: '#7a3ab0',
  cyan: '#0b6670',
  white: '#57606a',
  brightBlack: '#566070',
  brightRed: '#98150f',
  brightGreen: '#0f5c2e',
  brightYellow: '#633f00',
  brightBlue: '#0d429a',
  brightMagenta: '#622a94',
  brightCyan: '#05525a',
  brightWhite: '#3a424c',
};

/** The colours of the terminal. */
export const paletteOf = (isDark: boolean): ITheme => (isDark ? DARK : LIGHT);
