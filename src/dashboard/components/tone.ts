/** What a colour stands for. The text says it too. */
export type Tone = 'neutral' | 'good' | 'info' | 'warn' | 'bad';
