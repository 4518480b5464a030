import { describe, expect, it } from 'vitest';

import { DRIVERS } from '../../../../src/services/llm/shell-catalogue.js';
import { outputReader } from '../../../../src/services/llm/output-reader.js';

/** What is made of an output; `own`: of a tool that the configuration gives other arguments than the driver's. */
function read(output: string, own: boolean, driver: keyof typeof DRIVERS = 'claude') {
  const reader = outputReader(DRIVERS[driver], 'auto', own);
  for (const piece of output.match(/[\s\S]{1,7}/g) ?? []) reader.push(piece);
  reader.end();
  const { text, failure } = reader.answer;
  return { text, failure, isText: reader.isText };
}

describe.each([true, false])(
  'an output in which a driver looks for events (arguments of the configuration: %s)',
  (own) => {
    it.each([
      ['JSON that a model has answered', '{"verdict":"approve","reason":"x"}'],
      ['such JSON on several lines', '{\n  "verdict": "approve"\n}'],
      ['a list that a model has answered', '[{"name":"a"},{"name":"b"}]'],
      ['code that begins like JSON', '{ return 1; }'],
      ['text', 'The answer is 42.'],
    ])('%s is the answer', (_, output) => {
      expect(read(output, own)).toEqual({ text: output, failure: undefined, isText: true });
    });

    it.each([
      ['an event that breaks off', '{"type":"result","is_error":false,"resu'],
      ['a document that breaks off', '{\n  "session_id": "s",\n  "response": "half'],
      ['a list of events that breaks off', '[{"type":"system"},\n{"type":"resu'],
    ])('%s is none', (_, output) => {
      expect(read(output, own).failure).toMatch(/^its output is no JSON that can be read: /);
    });

    it('the one document of a session is read', () => {
      const output = JSON.stringify({ session_id: 's', response: 'hello', stats: {} }, null, 2);
      expect(read(output, own, 'gemini')).toMatchObject({ text: 'hello', isText: false });
    });

    it('an answer that is no text is a failure that says so', () => {
      expect(read('{"type":"result","is_error":false,"result":{"a":1}}\n', own).failure).toBe('it ended with no text');
    });
  },
);
