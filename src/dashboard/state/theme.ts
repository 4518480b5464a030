import { signal } from '@preact/signals';

const STORAGE_KEY = 'theme';

/** Colours: those of the system, or chosen here. */
export type ThemeChoice = 'system' | 'light' | 'dark';

const CHOICES: readonly ThemeChoice[] = ['system', 'light', 'dark'];

/** The colours of the page. */
export class Theme {
  readonly choice = signal<ThemeChoice>(stored());
  readonly #system = matchMedia('(prefers-color-scheme: dark)');
  readonly #isSystemDark = signal(this.#system.matches);

  constructor() {
    this.#system.addEventListener('change', ({ matches }) => {
      this.#isSystemDark.value = matches;
    });
    this.#apply();
  }

  /** Whether the page is dark now. */
  get isDark(): boolean {
    const choice = this.choice.value;
    return choice === 'system' ? this.#isSystemDark.value : choice === 'dark';
  }

  /** Switches between light and dark. */
  toggle(): void {
    this.choice.value = this.isDark ? 'light' : 'dark';
    localStorage.setItem(STORAGE_KEY, this.choice.value);
    this.#apply();
  }

  #apply(): void {
    const choice = this.choice.peek();
    document.documentElement.style.colorScheme = choice === 'system' ? '' : choice;
  }
}

function stored(): ThemeChoice {
  const found = localStorage.getItem(STORAGE_KEY);
  return CHOICES.find((choice) => choice === found) ?? 'system';
}
