/**
 * A mode that is set in a terminal in its normal state: its bit in a field of termios(3), and stty(1)'s notation for
 * the unset mode.
 */
const MODES_IN_ORDER = [
  { field: 0, bit: 0o400, name: '-icrnl' },
  { field: 1, bit: 0o1, name: '-opost' },
  { field: 1, bit: 0o4, name: '-onlcr' },
  { field: 3, bit: 0o1, name: '-isig' },
  { field: 3, bit: 0o2, name: '-icanon' },
  { field: 3, bit: 0o10, name: '-echo' },
] as const;

/** Fields of input, output, control and local modes, as `stty -g` of the GNU coreutils prints them: hexadecimal. */
const LINE = /^[0-9a-f]+:[0-9a-f]+:[0-9a-f]+:[0-9a-f]+:/u;

/**
 * Terminal modes that differ from the normal state, as stty(1) names them.
 * @param text lines of `stty -g`; other lines are ignored
 */
export function disturbedModes(text: string): string[] {
  const found = text.split('\n').filter((line) => LINE.test(line));
  const fields = found.map((line) => line.split(':', 4).map((field) => Number.parseInt(field, 16)));
  return MODES_IN_ORDER.filter(({ field, bit }) => fields.some((modes) => ((modes[field] ?? bit) & bit) === 0)).map(
    ({ name }) => name,
  );
}
