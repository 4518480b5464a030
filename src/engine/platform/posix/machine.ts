import { availableParallelism, cpus, freemem, loadavg, networkInterfaces, totalmem } from 'node:os';

import type { CpuTime, Machine, MachineReading, MemoryBytes, NetBytes } from '../contract/machine.js';

/** Reads the use of the machine by Node.js and, what that does not know, by the programs that `systeminformation` runs. */
export class PosixMachine implements Machine {
  #memory: MemoryBytes = { total: totalmem(), used: totalmem() - freemem() };
  #net: NetBytes = { received: 0, sent: 0 };

  read(): MachineReading {
    const [load1 = 0] = loadavg();
    return { cpu: cpuTime(), cpus: availableParallelism(), load1, memory: this.#memory, net: this.#net };
  }

  async refresh(): Promise<void> {
    // Loaded with the first reading: it takes a tenth of a second.
    const { mem, networkStats } = await import('systeminformation');
    const [{ total, available }, interfaces] = await Promise.all([mem(), networkStats('*')]);
    const own = networkInterfaces();
    const others = interfaces.filter(({ iface }) => own[iface]?.some(({ internal }) => internal) !== true);
    this.#memory = { total, used: total - available };
    this.#net = {
      received: others.reduce((sum, { rx_bytes: bytes }) => sum + bytes, 0),
      sent: others.reduce((sum, { tx_bytes: bytes }) => sum + bytes, 0),
    };
  }
}

function cpuTime(): CpuTime {
  const times = cpus().map((cpu) => cpu.times);
  const total = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { busy: total - times.reduce((sum, { idle }) => sum + idle, 0), total };
}
