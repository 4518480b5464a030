/** The last paragraph of a text, for tools that print their progress before the answer. */
export const lastBlock = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .trim()
    .split(/\n[ \t]*\n/)
    .at(-1)
    ?.trim() ?? '';
