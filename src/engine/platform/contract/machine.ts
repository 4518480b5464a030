/** CPU time of all CPUs since some moment, in one unit; both only grow. */
export interface CpuTime {
  readonly busy: number;
  /** What could have been used. */
  readonly total: number;
}

/** Bytes that all network interfaces but the loopback have transferred. */
export interface NetBytes {
  readonly received: number;
  readonly sent: number;
}

/** Memory of the machine, in bytes. */
export interface MemoryBytes {
  readonly total: number;
  /** Without what the kernel can free. */
  readonly used: number;
}

/** What the machine has done and uses at one moment. Of a container with limits, CPU and memory are its own. */
export interface MachineReading {
  readonly cpu: CpuTime | undefined;
  /** CPUs that may be used at a time; may be a fraction. */
  readonly cpus: number;
  readonly load1: number;
  readonly memory: MemoryBytes;
  readonly net: NetBytes;
}

/** Reads what the machine has done and uses. */
export interface Machine {
  /** Takes a reading at once; what takes longer is of the last `refresh`. */
  read(): MachineReading;
  /** Reads what takes longer. */
  refresh(): Promise<void>;
}
