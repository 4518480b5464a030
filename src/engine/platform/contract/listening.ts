/** A port on which a process listens. */
export interface ListeningPort {
  readonly port: number;
  readonly address: string;
  readonly pid: number;
}

/** On which ports processes listen for TCP connections. */
export interface Listening {
  /** Time between two looks of something that waits for a port, in milliseconds. */
  readonly lookMs: number;
  /** Names the network of a process; undefined when the process has ended, or may not be looked at. */
  readonly networkOf: (pid: number) => string | undefined;
  /**
   * Finds the ports of some processes. Forked processes share a socket: one of them counts.
   * @throws AdapterError PORT_UNAVAILABLE where a program that is needed is not installed
   */
  readonly portsOf: (pids: readonly number[]) => Promise<readonly ListeningPort[]>;
  /**
   * Whether anything in the network of a process listens on a port.
   * @throws as `portsOf`
   */
  readonly isTaken: (port: number, pid: number) => Promise<boolean>;
}
