import type { ServerResponse } from 'node:http';

type Answering = (response: ServerResponse) => void;

const json =
  (body: string): Answering =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(body);

const events =
  (...lines: readonly string[]): Answering =>
  (response) =>
    void response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(lines.map((line) => `data: ${line}\n\n`).join(''));

/** Answers with status 200 that are no chat completion, each with what is to be said of it. */
export const NO_COMPLETIONS: readonly (readonly [string, Answering, string])[] = [
  ['an empty object', json('{}'), 'it has no list of choices, it is {}'],
  ['a list', json('[]'), 'it has no list of choices, it is []'],
  ['null', json('null'), 'it has no list of choices, it is null'],
  ['a text', json('"fine"'), 'it has no list of choices, it is fine'],
  ['nothing', json(''), 'no chat completion'],
  ['half of an object', json('{"choices":['), 'it is no JSON'],
  [
    'a page',
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>'),
    'it has no list of choices, it is <html>Welcome</html>',
  ],
  ['an error with a good status', json('{"error":{"message":"no such plan"}}'), 'no such plan'],
  ['no choices', json('{"choices":[]}'), 'it has no choices'],
  ['choices that are a text', json('{"choices":"x"}'), 'it has no list of choices, it is {"choices":"x"}'],
  ['a choice of nothing', json('{"choices":[{}]}'), 'its choice has no message with a text, it is {}'],
  ['null as a choice', json('{"choices":[null]}'), 'its choice has no message with a text, it is {}'],
  [
    'a message that is no text',
    json('{"choices":[{"message":{"content":{"a":1}},"finish_reason":"stop"}]}'),
    'its choice has no message with a text',
  ],
];

const delta = (content: unknown, finish_reason: string | null = null) =>
  JSON.stringify({ model: 'm', choices: [{ index: 0, delta: { content }, finish_reason }] });

/** The same for requests that ask for a stream. */
export const NO_STREAMS: readonly (readonly [string, Answering, string])[] = [
  ['an object instead', json('{}'), 'a stream without an event'],
  ['a page instead', (response) => void response.end('<html>Welcome</html>'), 'a stream without an event'],
  ['no events', events(), 'a stream without an event'],
  ['only its end', events('[DONE]'), 'a stream without an event'],
  ['an event that is no JSON', events('garbage'), 'it is no JSON'],
  ['an event that is null', events('null'), 'it has no list of choices, it is null'],
  ['an event that is a text', events('"x"', '[DONE]'), 'it has no list of choices, it is x'],
  ['an event of something else', events('{"type":"ping"}'), 'it has no list of choices, it is {"type":"ping"}'],
  ['choices of nothing alone', events('{"choices":[{}]}', '[DONE]'), 'without a finish_reason'],
  ['a piece that is no text', events(delta(['x'])), 'its choice has no delta with a text'],
  ['pieces without an end', events(delta('one '), delta('two'), '[DONE]'), 'without a finish_reason'],
  ['an error on the way', events(delta('one '), '{"error":{"message":"out of luck"}}'), 'out of luck'],
];

/** A stream whose connection breaks after its first piece. */
export const breakOff: Answering = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${delta('one ')}\n\n`, () => response.destroy());
};

/** A stream as some services send it: no delta at its end, no usage, no `[DONE]`. */
export const plainStream: Answering = events(delta('one '), delta('two'), '{"choices":[{"finish_reason":"stop"}]}');

/** A message without a word. */
export const silence: Answering = json('{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}');
