import type { Finding, JudgedCommand } from '../model.js';
import type { Stdin } from '../words/simple-command.js';

/** A request to analyse. */
export interface PolicyRequest {
  /** Shell text; or a program, when `args` is given. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Variables that are set for the command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Text that is passed to the command as standard input. */
  readonly stdin?: string | undefined;
  /**
   * Whether input arrives while the command runs, so that it is unknown beforehand. (Named as in `execute_command`.)
   */
  readonly stdin_stream?: boolean | undefined;
}

/** The effects of a request. */
export interface Inspection {
  /** Every simple command, at any depth, in the order in which they were found. */
  readonly commands: readonly JudgedCommand[];
  /** Findings that belong to no single command. */
  readonly notes: readonly Finding[];
  /** Names may have another meaning in the session afterwards. */
  readonly changesNames: boolean;
  /** The parser cannot read the text or a part of it; the shell may also reject it. */
  readonly isUnparsable: boolean;
}

/** The standard input that a request gives its commands. */
export function stdinOf({ stdin = '', stdin_stream: isStreamed = false }: PolicyRequest): Stdin | undefined {
  if (isStreamed)
    return { kind: 'unknown', what: 'a streamed standard input, which the policy cannot see', isOfClient: true };
  return stdin === '' ? undefined : { kind: 'text', text: stdin, isCertain: true };
}
