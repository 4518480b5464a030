/** What a part of a command is. */
type TokenKind =
  | 'space'
  | 'command'
  | 'keyword'
  | 'assignment'
  | 'option'
  | 'argument'
  | 'string'
  | 'variable'
  | 'operator'
  | 'comment';

/** A part of a command. */
interface ShellToken {
  readonly kind: TokenKind;
  readonly text: string;
}

const KEYWORDS = new Set(
  'if then else elif fi do done while until for case esac in function time select ! { } [[ ]]'.split(' '),
);
/** Keywords that a name or value follows, and no command. */
const BEFORE_NAMES = new Set(['for', 'case', 'in', 'function', 'select', 'fi', 'done', 'esac', '}', '[[', ']]']);

const SPACE = /[^\S\n]+/y;
const COMMENT = /#[^\n]*/y;
const REDIRECTION = /\d*(?:<<<|<<-?|>>|>&|<&|>\||&>>?|<(?!\()|>(?!\())/y;
const OPERATOR = /\$\(\(?|[<>]\(|&&|\|\||;;|\|&|[|&;()`\n]/y;
const SINGLE_QUOTED = /'[^']*'?|\$'(?:[^'\\]|\\[^])*'?/y;
const VARIABLE = /\$(?:[A-Za-z_]\w*|\{[^}\n]*\}?|[\d@*#?$!-])/y;
const WORD = /(?:\\[^]|[^\s|&;()<>`"'$\\])+/y;
const OPERATOR_IN_QUOTES = /\$\(\(?|`/y;
const IN_DOUBLE_QUOTES = /(?:\\[^]|[^"$`\\])+/y;
const ANY = /[^]/y;

/**
 * Splits a command into parts for highlighting; together they are the text. It follows quotes and substitutions as
 * POSIX shells do, and knows no aliases: the policy, not the colours, says what a command does.
 */
export function tokensOf(text: string): readonly ShellToken[] {
  return new Tokenizer(text).run();
}

class Tokenizer {
  readonly #text: string;
  readonly #tokens: ShellToken[] = [];
  /** What the current place is inside of, the innermost last. */
  readonly #nesting: ('code' | 'quotes')[] = ['code'];
  #position = 0;
  /** Whether the next word is a command. */
  #expectsCommand = true;
  /** Kind of the word that goes on here; undefined between words. */
  #word: TokenKind | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  run(): readonly ShellToken[] {
    while (this.#position < this.#text.length) {
      if (this.#nesting.at(-1) === 'quotes') this.#takeQuoted();
      else this.#takeCode();
    }
    return this.#tokens;
  }

  #takeCode(): void {
    if (this.#take(SPACE, 'space') || (this.#word === undefined && this.#take(COMMENT, 'comment'))) {
      this.#word = undefined;
    } else if (this.#word === undefined && this.#take(REDIRECTION, 'operator')) {
      this.#beginTarget();
    } else if (this.#take(OPERATOR, 'operator')) {
      this.#afterOperator(this.#tokens.at(-1)?.text ?? '');
    } else {
      this.#takeInWord();
    }
  }

  #takeInWord(): void {
    if (this.#take(SINGLE_QUOTED, 'string') || this.#take(VARIABLE, 'variable')) this.#beginWord('');
    else if (this.#text[this.#position] === '"') this.#openQuotes();
    else this.#takeWord();
  }

  #takeQuoted(): void {
    if (this.#text[this.#position] === '"') {
      this.#take(ANY, 'string');
      this.#nesting.pop();
    } else if (this.#take(OPERATOR_IN_QUOTES, 'operator')) {
      this.#open(this.#tokens.at(-1)?.text === '$((' ? 2 : 1);
    } else if (!this.#take(VARIABLE, 'variable') && !this.#take(IN_DOUBLE_QUOTES, 'string')) {
      this.#take(ANY, 'string');
    }
  }

  #takeWord(): void {
    WORD.lastIndex = this.#position;
    const [found = ''] = WORD.exec(this.#text) ?? [];
    const kind = this.#beginWord(found);
    if (!this.#take(WORD, kind)) {
      // A character that begins nothing, such as a redirection within a word.
      if (this.#take(REDIRECTION, 'operator')) this.#beginTarget();
      else this.#take(ANY, kind);
    }
  }

  #openQuotes(): void {
    this.#beginWord('');
    this.#take(ANY, 'string');
    this.#nesting.push('quotes');
  }

  #afterOperator(operator: string): void {
    const isInQuotes = this.#nesting.at(-2) === 'quotes';
    if ((operator === ')' && this.#nesting.length > 1) || (operator === '`' && isInQuotes)) {
      this.#nesting.pop();
      this.#word = 'argument';
      this.#expectsCommand = false;
      return;
    }
    this.#open(operator.split('(').length - 1);
  }

  /** A command may begin here, within so many parentheses: `$((` is closed by two. */
  #open(parentheses: number): void {
    for (let count = 0; count < parentheses; count += 1) this.#nesting.push('code');
    this.#word = undefined;
    this.#expectsCommand = true;
  }

  /** The word after a redirection names a file. */
  #beginTarget(): void {
    this.#take(SPACE, 'space');
    this.#word = 'argument';
  }

  /** Begins a word unless one goes on; returns the kind of its plain parts. */
  #beginWord(text: string): TokenKind {
    if (this.#word !== undefined) return this.#word;
    this.#word = this.#expectsCommand ? this.#firstWord(text) : text.startsWith('-') ? 'option' : 'argument';
    return this.#word;
  }

  #firstWord(text: string): TokenKind {
    if (/^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(text)) return 'assignment';
    const isKeyword = KEYWORDS.has(text);
    this.#expectsCommand = isKeyword && !BEFORE_NAMES.has(text);
    return isKeyword ? 'keyword' : 'command';
  }

  /** Takes what matches here as a part; returns whether there was something. */
  #take(pattern: RegExp, kind: TokenKind): boolean {
    pattern.lastIndex = this.#position;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    if (found === '') return false;
    this.#tokens.push({ kind, text: found });
    this.#position += found.length;
    return true;
  }
}
