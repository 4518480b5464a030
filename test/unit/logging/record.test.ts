import { describe, expect, it } from 'vitest';
import type { LogLevel } from '../../../src/config/model/configuration.js';
import { parseLogFormat } from '../../../src/config/sections/records.js';
import { renderRecord } from '../../../src/logging/logging.js';

const RECORD = {
  time: new Date(2026, 10, 21, 21, 43, 3, 7),
  level: 'INFO' as LogLevel,
  name: 'shell_adapter.sessions',
  processId: 42,
  message: 'opened',
};

function render(text: string, level: LogLevel = 'INFO'): string {
  const format = parseLogFormat(text);
  if ('problem' in format) throw new Error(format.problem);
  return renderRecord(format, { ...RECORD, level });
}

describe('a record', () => {
  it.each([
    [
      '%(asctime)s - %(name)s - %(levelname)s - %(message)s',
      '2026-11-21 21:43:03,007 - shell_adapter.sessions - INFO - opened',
    ],
    ['[%(levelname)-8s] %(message)s', '[INFO    ] opened'],
    ['[%(levelname)8s] %(message)s', '[    INFO] opened'],
    ['%(levelname).2s %(message)s', 'IN opened'],
    ['%(process)d %(process)s %(process)05d %(process)-5d|', '42 42 00042 42   |'],
    ['%(msecs)03d %(msecs)d', '007 7'],
    ['%(levelno)d', '20'],
    ['%(created).3f', (RECORD.time.getTime() / 1000).toFixed(3)],
    ['%(created)d', String(Math.trunc(RECORD.time.getTime() / 1000))],
    ['%(process)f', '42.000000'],
    ['100%% %(message)s', '100% opened'],
  ])('in the format %j is %j', (format, expected) => {
    expect(render(format)).toBe(expected);
  });

  it.each([
    ['DEBUG', '10'],
    ['INFO', '20'],
    ['WARNING', '30'],
    ['ERROR', '40'],
    ['CRITICAL', '50'],
  ] as const)("of level %s has Python's number %s", (level, number) => {
    expect(render('%(levelname)s %(levelno)s', level)).toBe(`${level} ${number}`);
  });
});
