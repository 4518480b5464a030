/** The first 16 colours of a dark terminal. */
const BASE = [
  ...['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  ...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff'],
] as const;

/** Steps of the colour cube 16 to 231. Source: xterm, 256colres.pl. */
const CUBE = [0, 95, 135, 175, 215, 255] as const;

/** A colour of the palette of 256 colours, as `#rrggbb`. */
export function xtermColour(index: number): string {
  const base = BASE[index];
  if (base !== undefined) return base;
  if (index >= 232) return hexOf(Array.from({ length: 3 }, () => 8 + (index - 232) * 10));
  const place = index - 16;
  return hexOf([Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map((step) => CUBE[step] ?? 0));
}

const hexOf = (parts: readonly number[]): string =>
  `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
