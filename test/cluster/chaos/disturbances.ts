import { setTimeout as sleep } from 'node:timers/promises';

import type { ChaosNode, ChaosNodes } from './nodes.js';

/** Shortest and longest pause between two disturbances of a lane, in milliseconds. */
const PAUSE_MS = [500, 3500] as const;

/** What was done, to which node, for how long. */
export interface Disturbance {
  /** On the clock of `performance.now`. */
  readonly at: number;
  readonly text: string;
}

/** What disturbs a part of the nodes, one thing after the other. */
export interface LaneOptions {
  readonly nodes: ChaosNodes;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

interface Lane extends LaneOptions {
  /** Waits for a time of at most so many milliseconds, by the seed. */
  readonly hold: (mostMs: number) => Promise<void>;
  /** Notes what is done. */
  readonly say: (what: string) => void;
}

type Act = (lane: Lane) => Promise<void>;

/** Freezes and kills workers, and breaks their links. */
export const disturbWorkers = (options: LaneOptions): Promise<void> =>
  disturb(options, [freezeWorker, freezeWorker, killWorker, cutLink, cutLink, closeLink, silenceLink]);

/** Freezes and kills gateways and Redis. */
export const disturbGateways = (options: LaneOptions): Promise<void> =>
  disturb(options, [freezeGateway, freezeGateway, killGateway, restartRedis, freezeRedis]);

async function disturb(options: LaneOptions, acts: readonly Act[]): Promise<void> {
  const { random, signal, note } = options;
  const [least, most] = PAUSE_MS;
  for (let step = 1; ; step += 1) {
    await sleep(least + random() * (most - least), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await pick(
      random,
      acts,
    )({
      ...options,
      hold: (mostMs) => sleep(random() * mostMs),
      say: (what) => {
        note(`step ${step}: ${what}`);
      },
    });
  }
}

const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

async function freeze(node: ChaosNode, { hold, say }: Lane, mostMs: number): Promise<void> {
  await node.disturb(async () => {
    say(`${node.name} is frozen`);
    node.daemon.signal('SIGSTOP');
    await hold(mostMs);
    node.daemon.signal('SIGCONT');
    say(`${node.name} goes on`);
  });
}

async function kill(node: ChaosNode, { hold, say }: Lane): Promise<void> {
  await node.disturb(async () => {
    say(`${node.name} is killed`);
    await node.kill();
    await hold(3000);
    await node.start();
    say(`${node.name} is started again`);
  });
}

const freezeWorker: Act = (lane) => freeze(pick(lane.random, lane.nodes.workers), lane, 9000);
const killWorker: Act = (lane) => kill(pick(lane.random, lane.nodes.workers), lane);
const freezeGateway: Act = (lane) => freeze(pick(lane.random, lane.nodes.gateways), lane, 5000);
const killGateway: Act = (lane) => kill(pick(lane.random, lane.nodes.gateways), lane);

function linkOf({ nodes, random }: Lane) {
  const [name, proxy] = pick(random, [...nodes.proxies]);
  const node = nodes.workers.find((worker) => worker.name === name)!;
  return { proxy, node };
}

const cutLink: Act = async (lane) => {
  const { proxy, node } = linkOf(lane);
  await node.disturb(() => {
    lane.say(`the links to ${node.name} are cut`);
    proxy.cut();
    return Promise.resolve();
  });
};

const closeLink: Act = async (lane) => {
  const { proxy, node } = linkOf(lane);
  await node.disturb(async () => {
    lane.say(`${node.name} cannot be reached`);
    proxy.refuse(true);
    proxy.cut();
    await lane.hold(6000);
    proxy.refuse(false);
    lane.say(`${node.name} can be reached again`);
  });
};

/** What is lost of a connection cannot come later: it is cut before it goes on. */
const silenceLink: Act = async (lane) => {
  const { proxy, node } = linkOf(lane);
  await node.disturb(async () => {
    lane.say(`the links to ${node.name} lose what is sent`);
    proxy.silence(true);
    await lane.hold(6000);
    proxy.cut();
    proxy.silence(false);
    lane.say(`the links to ${node.name} pass again`);
  });
};

const restartRedis: Act = async ({ nodes, hold, say }) => {
  await nodes.withoutRedis(async () => {
    say('Redis is killed');
    await nodes.redis.kill();
    await hold(3000);
    await nodes.redis.start();
    say('Redis is started again, empty');
  });
};

const freezeRedis: Act = async ({ nodes, hold, say }) => {
  await nodes.withoutRedis(async () => {
    say('Redis is frozen');
    nodes.redis.signal('SIGSTOP');
    await hold(4000);
    nodes.redis.signal('SIGCONT');
    say('Redis goes on');
  });
};
