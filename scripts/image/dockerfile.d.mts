/** An instruction of a stage, with its text. */
export interface Step {
  readonly instruction: string;
  readonly text: string;
}

/** A stage of a Dockerfile. */
export interface Stage {
  readonly from: string;
  readonly name: string | undefined;
  readonly steps: readonly Step[];
}

export function readDockerfile(text: string): Stage[];
export function readList(text: string): string[];
export function readVariables(text: string): Record<string, string>;
export function readCopy(text: string): { from: string | undefined; sources: string[]; target: string };
export function settingOf(stage: Stage, name: string): string | undefined;
