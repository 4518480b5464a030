import fc from 'fast-check';

/** Packets of Socket.IO as they stand in a frame: valid ones, and such that no library sends. */
const SEEDS = [
  '42["open_session",{"__proto__":{"cwd":"/nonexistent"}}]',
  '42["execute_command",{"command":"true","env":{"constructor":{"prototype":{}}}}]',
  '421["list_sessions",{}]',
  '4399[1]',
  '451-["send_input",{"session_id":"none","data":{"_placeholder":true,"num":0}}]',
  '459999-["open_session",{}]',
  '42[1,{}]',
  '42[]',
  '40/admin,{}',
  '41',
  '44{"message":"x"}',
  '49',
  '2probe',
  '3',
  '1',
  `42["open_session",${'['.repeat(2000)}${']'.repeat(2000)}]`,
];

/** Texts of one frame: packets with characters cut out and put in. */
export const packets: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...SEEDS),
    fc.array(
      fc.record({
        at: fc.nat({ max: 60 }),
        cut: fc.nat({ max: 4 }),
        put: fc.oneof(
          fc.constantFrom('"', '[', ']', '{', '}', ',', '-', '/', '0', '9', '\0', 'null'),
          fc.string({ maxLength: 4 }),
        ),
      }),
      { maxLength: 4 },
    ),
  )
  .map(([seed, edits]) =>
    edits.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), seed),
  );
