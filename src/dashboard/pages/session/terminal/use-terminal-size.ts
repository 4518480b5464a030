import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

import type { SessionInfo } from '../../../../client/index.js';
import type { TerminalModel } from './terminal-model.js';

/**
 * Gives the terminal the size of its text, and its own: that of the session while a command has the terminal, whose output is for that size;
 * else what there is room for.
 */
export function useTerminalSize(
  model: TerminalModel,
  { cols, rows, running_command: running }: SessionInfo,
  element: RefObject<HTMLElement | null>,
): void {
  const screen = model.screen.value;
  const isTty = running?.tty === true;
  const px = model.fontSize.px.value;
  useEffect(() => {
    if (!screen || !element.current?.parentElement) return undefined;
    screen.fontSize = px;
    const apply = () => {
      const room = screen.room;
      if (isTty) screen.resize(cols, rows);
      else if (room) screen.resize(room.cols, room.rows);
    };
    const observer = new ResizeObserver(apply);
    observer.observe(element.current.parentElement);
    return () => {
      observer.disconnect();
    };
  }, [screen, cols, rows, isTty, px]);
}
