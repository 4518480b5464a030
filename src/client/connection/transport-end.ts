import type { Socket } from 'socket.io-client';

import type { Timer } from '../runtime/timer.js';

/** How long a daemon may take to close the connection, in milliseconds: a stopped (SIGSTOP) daemon never does. */
const LEAVE_TIMEOUT_MS = 1000;

/** The WebSocket of a transport: a browser's, or that of the `ws` package. Only the latter can be terminated. */
interface WebSocketLike {
  readonly readyState: number;
  addEventListener(event: 'close', listener: () => void, options: { readonly once: true }): void;
  terminate?(): void;
}

/** `WebSocket.CLOSED`. */
const CLOSED = 3;

/** Disconnects; resolves when the connection is closed on this machine. */
export async function endTransport(socket: Socket): Promise<void> {
  const webSocket = webSocketOf(socket);
  socket.disconnect();
  if (!webSocket || webSocket.readyState === CLOSED) return;
  let timer: Timer | undefined;
  await new Promise<void>((resolve) => {
    webSocket.addEventListener('close', resolve, { once: true });
    timer = setTimeout(() => {
      webSocket.terminate?.();
      resolve();
    }, LEAVE_TIMEOUT_MS);
  });
  clearTimeout(timer);
}

/**
 * Makes an attempt to connect fail when the connection ends during the handshake. Until the handshake is complete,
 * Socket.IO's manager listens only for errors (`Manager.open`) and would wait for its time-out.
 */
export function reportEarlyEnd(socket: Socket): void {
  const { engine } = socket.io;
  let isOpen = false;
  engine.once('open', () => {
    isOpen = true;
  });
  engine.once('close', (reason) => {
    if (!isOpen) (engine as unknown as FailingEngine).emit('error', new Error(reason));
  });
}

/** The engine's emitter without its types, which keep its own events private. */
interface FailingEngine {
  emit(event: 'error', error: Error): void;
}

function webSocketOf(socket: Socket): WebSocketLike | undefined {
  // The engine is undefined before the first connection, although its type says otherwise.
  const engine = socket.io.engine as Socket['io']['engine'] | undefined;
  const transport = engine?.transport as unknown as { readonly ws?: WebSocketLike | null } | undefined;
  return transport?.ws ?? undefined;
}
