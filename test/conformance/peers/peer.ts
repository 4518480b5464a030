/**
 * What a trap may rest on beyond a command and its output.
 *
 * - `session`: what a command leaves in its shell is there for the next
 * - `one_shot`: commands outside of a session
 * - `exit_code`: exit codes are told
 * - `streams`: standard error apart from standard output
 * - `timeout`: a command is ended after a given time
 * - `stdin`: standard input given as text
 * - `input`: typing into a running command
 * - `signal`: an interrupt for a running command
 * - `tty`: a terminal for one command, on request
 * - `terminal`: a terminal behind every command, on which typed control characters act
 * - `surroundings`: a directory and variables for one command
 * - `args`: a program with a list of arguments
 * - `bytes`: output as bytes
 */
export type Notion =
  | 'session'
  | 'one_shot'
  | 'exit_code'
  | 'streams'
  | 'timeout'
  | 'stdin'
  | 'input'
  | 'signal'
  | 'tty'
  | 'terminal'
  | 'surroundings'
  | 'args'
  | 'bytes';

/** What a command may be given besides its text, as far as the peer has the notion. */
export interface PeerRunOptions {
  /** Outside of the session. */
  readonly isAlone: boolean;
  /** Absent: the command may take as long as the peer lets it. */
  readonly timeoutMs: number | undefined;
  readonly stdin: string | undefined;
  /** Whether something will be typed or signalled while it runs. */
  readonly isAttended: boolean;
  readonly isOnTerminal: boolean;
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly args: readonly string[] | undefined;
}

/** What a peer says of a command that has ended. */
export interface PeerResult {
  /** Both streams, where the peer does not tell them apart. */
  readonly stdout: string;
  /** Absent when the peer mixes it into standard output. */
  readonly stderr?: string;
  /** Absent when the peer does not tell it. */
  readonly exitCode?: number | undefined;
  /** Standard output as it was, where the peer gives bytes. */
  readonly bytes?: Buffer;
}

/** A connection to a peer, with a shell or process of its own. */
export interface PeerSession {
  /** @throws NotApplicable when the peer cannot be given these options */
  run(command: string, options: PeerRunOptions): Promise<PeerResult>;
  /** Types into the running command. */
  input?(data: string, eof: boolean): Promise<void>;
  /** Interrupts the running command. */
  signal?(signal: string): Promise<void>;
  /** Output of the running command up to now; absent when the peer shows none before the end. */
  output?(): string;
  /** Ends it in the peer's own way. */
  close(): Promise<void>;
}

/** Where a session of a peer starts. */
export interface PeerPlace {
  readonly directory: string;
  /** Variables by which the processes of the trap are known. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder into which the peer is installed. */
  readonly installed: string;
}

/** How a peer is installed into a folder of its own. */
export type Install =
  | { readonly npm: readonly string[] }
  | { readonly script: (folder: string) => void; readonly command: string };

/** Another system that runs commands. */
export interface Peer {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** Which interface is used, and how, in one sentence. */
  readonly how: string;
  readonly install: Install;
  readonly notions: ReadonlySet<Notion>;
  open(place: PeerPlace): Promise<PeerSession>;
}

/** A trap, or a step of one, rests on something that the peer has no notion of. */
export class NotApplicable extends Error {}
