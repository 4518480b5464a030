/**
 * Converts output of a pipe for a terminal, which needs a carriage return before each line feed. Lines may be cut
 * anywhere.
 */
export class TerminalText {
  #last = '';

  /** Returns the text with complete line ends. */
  convert(text: string): string {
    if (text === '') return text;
    const converted = text.replaceAll(/(\r?)\n/gu, (_end, carriageReturn: string, offset: number) =>
      carriageReturn === '' && !(offset === 0 && this.#last === '\r') ? '\r\n' : `${carriageReturn}\n`,
    );
    this.#last = text.at(-1) ?? '';
    return converted;
  }
}
