import type { ServerResponse } from 'node:http';
import { answer, DONE, delta, event, GOOD_TEXT, send, usageOf } from './answer-events.ts';
import { BAD, END, type NamedAttack, one, refuses } from './named-attack.ts';

const withText = (value: unknown): string => JSON.stringify({ text: value });
const says =
  (text: string, finish = 'stop') =>
  (response: ServerResponse) =>
    answer(response, text, { finish });
const inDocument = (more: string) => says(GOOD_TEXT.replace('salt', more));
const parts =
  (...all: (string | Buffer)[]) =>
  (response: ServerResponse) =>
    send(response, all);

/** Bytes, characters and structure of the text. */
const TEXTS: readonly NamedAttack[] = [
  one('NUL in the text', 'saved', inDocument('sa\0lt')),
  one('NUL as an escape in the document', 'saved', inDocument('sa\\u0000lt')),
  one('half a surrogate pair', 'saved', inDocument('\ud83d')),
  one('half a surrogate pair as an escape', 'saved', inDocument('\\udc00')),
  one('terminal control sequences', 'saved', inDocument('\x1b[2J\x1b]0;owned\x07\x9b31m')),
  one('bidirectional overrides', 'saved', inDocument('\u202e\u2066salt\u2069')),
  one('byte order marks and zero widths', 'saved', says(`\ufeff${GOOD_TEXT}\u200b\ufeff`)),
  one('150,000 lines', 'saved', says(withText('bread\n'.repeat(60_000) + '\n'.repeat(90_000)))),
  one('30,000 backticks', 'saved', says(withText('`'.repeat(30_000)))),
  one('180,000 characters of code spans', 'saved', says(withText('`a '.repeat(60_000)))),
  one('template syntax', 'saved', inDocument('{{ content }} {% for x in (1..99999999) %}')),
  one('a script', 'saved', inDocument('<script>alert(1)</script>')),
  one('keys of prototypes', 'model_output_invalid', says('{"__proto__": {"text": "owned"}}')),
  one(
    'keys of every object',
    'saved',
    says(`{"constructor":"x","toString":1,${GOOD_TEXT.slice(1)}`),
  ),
  one('a key that comes 10,000 times', 'saved', says(`{${'"text":"bread",'.repeat(10_000)}"a":1}`)),
  one(
    '100,000 levels',
    'model_output_invalid',
    says(`${'{"a":'.repeat(100_000)}1${'}'.repeat(1e5)}`),
  ),
  one('500,000 open brackets', 'continuation_exhausted', says(`{"text": ${'['.repeat(500_000)}`)),
  one(
    '300,000 open braces',
    ['continuation_exhausted', 'model_output_invalid'],
    says('{'.repeat(3e5)),
  ),
  one(
    '300,000 backslashes',
    ['continuation_exhausted', 'model_output_invalid'],
    says(`{"text":"${'\\'.repeat(300_000)}"`),
  ),
  one('a number beyond numbers', 'model_output_invalid', says('{"text": 1e99999}')),
  one('a list of lists', 'model_output_invalid', says('[[["bread"]]]')),
  one('a record for a text', 'model_output_invalid', says(withText({ a: { b: [] } }))),
  one('an empty record', 'model_output_invalid', says('{}')),
  one('nothing', 'model_output_invalid', says('')),
  one('blanks', 'model_output_invalid', says(' \n\t '.repeat(1_000))),
  one('prose', 'model_output_invalid', says('I am sorry, I cannot help with that.')),
  one('2,000 records side by side', 'saved', says(`${'{"a":1}\n'.repeat(2_000)}${GOOD_TEXT}`)),
  one('a fence that stays open', 'saved', says(`\`\`\`json\n${GOOD_TEXT}`)),
];

/** Answers that do not come to an end. */
const ENDS: readonly NamedAttack[] = [
  one('one character a turn', 'continuation_exhausted', (it, n) =>
    answer(it, n === 1 ? '{' : 'a', { finish: 'length' }),
  ),
  one('20 characters a turn', 'continuation_exhausted', (it, n) =>
    answer(it, n === 1 ? '{"text": "I say: ab c' : `${n} more of the same `, { finish: 'length' }),
  ),
  one('4,000 characters a turn for ever', 'continuation_exhausted', (it, n) =>
    answer(it, (n === 1 ? '{"text": "' : '') + `turn ${n} and bread `.repeat(250), {
      finish: 'length',
    }),
  ),
  one('no characters a turn', 'continuation_exhausted', says('', 'length')),
  one(
    'a new start every turn',
    'continuation_exhausted',
    says('{"text": "Bread is made of flour and what', 'length'),
  ),
  one('a piece, a fault, a piece', 'continuation_exhausted', (it, n) =>
    n % 2 === 0
      ? refuses(500, 'again')(it)
      : answer(it, n === 1 ? '{"text": "and so on and on' : ` ${n} and so on`, {
          finish: 'length',
        }),
  ),
  one('cut, wrong, cut, wrong', ['continuation_exhausted', 'model_output_invalid'], (it, n) =>
    n % 2 === 1 ? answer(it, '{"txt": "bread', { finish: 'length' }) : answer(it, '"}'),
  ),
  one('a reason to end that nobody knows', 'saved', says(GOOD_TEXT, 'vibes')),
  one('a reason of 100,000 characters', 'saved', says(GOOD_TEXT, 'x'.repeat(100_000))),
  one('no reason to end', 'saved', parts(delta(GOOD_TEXT), DONE)),
  one('no end of the stream', 'saved', parts(delta(GOOD_TEXT), delta('', 'stop'))),
  one('two ends', 'saved', parts(delta(GOOD_TEXT), delta('', 'stop'), delta('', 'length'), DONE)),
  one(
    'text behind the end',
    ['saved', 'model_output_invalid'],
    parts(delta(GOOD_TEXT), ...END, delta('{"text": "x"}'), ...END),
  ),
  one('a filter', 'model_refused', says(GOOD_TEXT, 'content_filter')),
  one('a call of a tool', 'continuation_exhausted', says('{"text": "so', 'tool_calls')),
];

const charges = (usage: unknown) => (response: ServerResponse) =>
  send(response, [delta(GOOD_TEXT), delta('', 'stop'), event({ choices: [], usage }), DONE]);

/** Usage that nobody can have used. */
const USAGES: readonly NamedAttack[] = [
  one('usage below zero', 'saved', charges({ prompt_tokens: -1_000_000, completion_tokens: 9 })),
  one('output below zero', 'saved', charges({ prompt_tokens: 90, completion_tokens: -1e9 })),
  one('half a token', 'saved', charges({ prompt_tokens: 10.5, completion_tokens: 9.5 })),
  one('1e300 tokens', 'saved', charges({ prompt_tokens: 1e300, completion_tokens: 9 })),
  one('10^18 tokens', 'saved', charges({ prompt_tokens: 1e18, completion_tokens: 1e18 })),
  one('2^53 tokens', 'saved', charges({ prompt_tokens: 2 ** 53, completion_tokens: 0 })),
  one(
    'more output than was asked for',
    'saved',
    charges({ prompt_tokens: 90, completion_tokens: 31_000 }),
  ),
  one(
    'more cached than read',
    'saved',
    charges({
      prompt_tokens: 90,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens: 333_333_333 },
    }),
  ),
  one(
    'cached below zero',
    'saved',
    charges({
      prompt_tokens: 90,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens: -5e9 },
    }),
  ),
  one(
    'usage in words',
    ['saved', 'provider_bad_response', 'continuation_exhausted'],
    charges({ prompt_tokens: 'many', completion_tokens: '9' }),
  ),
  one('usage of null', 'saved', charges({ prompt_tokens: null, completion_tokens: null })),
  one(
    'usage as a list',
    ['saved', 'provider_bad_response', 'continuation_exhausted'],
    charges([1, 2, 3]),
  ),
  one(
    'usage that grows with each event',
    'saved',
    parts(
      usageOf({ prompt_tokens: 9e9, completion_tokens: 9e9 }),
      delta(GOOD_TEXT),
      delta('', 'stop'),
      usageOf({ prompt_tokens: 90, completion_tokens: 9 }),
      usageOf({ prompt_tokens: 9e15, completion_tokens: 9e15 }),
      DONE,
    ),
  ),
];

const choice = (delta: unknown) => ({ choices: [{ index: 0, delta, finish_reason: null }] });

/** Events of the stream that are not what they should be. */
const EVENTS_OF_STREAM: readonly NamedAttack[] = [
  one(
    'an id with NUL',
    'saved',
    parts(event({ id: '\0', ...choice({ content: GOOD_TEXT }) }), ...END),
  ),
  one(
    'an id with half a pair',
    'saved',
    parts(event({ id: '\ud800', ...choice({ content: GOOD_TEXT }) }), ...END),
  ),
  one(
    'an id of 1 MB',
    'saved',
    parts(event({ id: 'x'.repeat(1e6), ...choice({ content: GOOD_TEXT }) }), ...END),
  ),
  one(
    'an id that is a record',
    ['saved', ...BAD],
    parts(event({ id: { a: 1 }, ...choice({ content: GOOD_TEXT }) }), ...END),
  ),
  one(
    'a date beyond dates',
    'saved',
    parts(event({ created: 1e300, ...choice({ content: GOOD_TEXT }) }), ...END),
  ),
  one(
    'a model name that clears the screen',
    'saved',
    parts(event({ model: '\x1b[2J\0', ...choice({ content: GOOD_TEXT }) }), ...END),
  ),
  one('events that are no JSON', BAD, parts('data: {"choices": [{]\n\n'.repeat(50), ...END)),
  one(
    'events of other values',
    BAD,
    parts('data: null\n\ndata: []\n\ndata: 42\n\ndata: "x"\n\n', ...END),
  ),
  one('choices that are no list', BAD, parts(event({ choices: 'all' }), ...END)),
  one('choices without a delta', BAD, parts(event({ choices: [{}] }), ...END)),
  one('text that is a number', BAD, parts(delta(42), ...END)),
  one('text that is a list', BAD, parts(delta([{ type: 'text', text: 'bread' }]), ...END)),
  one(
    'an error within the stream',
    BAD,
    parts(delta('{"text": "half'), event({ error: { message: '\0\x1b[2J', code: 500 } })),
  ),
  one(
    'a call of a tool without an end',
    BAD,
    parts(
      event(
        choice({
          tool_calls: [
            { index: 0, id: 'a', function: { name: 'x', arguments: '{"a":'.repeat(10_000) } },
          ],
        }),
      ),
      ...END,
    ),
  ),
  one(
    '5,000 choices',
    ['saved', ...BAD],
    parts(
      event({
        choices: Array.from({ length: 5_000 }, (_, index) => ({
          index,
          delta: { content: 'x' },
          finish_reason: null,
        })),
      }),
      delta(GOOD_TEXT),
      ...END,
    ),
  ),
  one(
    'invalid UTF-8',
    ['saved', ...BAD],
    parts(Buffer.from(delta(GOOD_TEXT).replace('salt', '\xff\xfe\x80'), 'latin1'), ...END),
  ),
  one(
    'half a character at the end',
    ['saved', ...BAD],
    parts(delta(GOOD_TEXT), ...END, Buffer.from([0xe2, 0x82])),
  ),
  one(
    'lines that end in CR alone',
    ['saved', ...BAD],
    parts(delta(GOOD_TEXT).replaceAll('\n', '\r'), ...END.map((end) => end.replaceAll('\n', '\r'))),
  ),
];

/** What a model may be made to say, and how it may be made to end. */
export const ANSWERS: readonly NamedAttack[] = [...TEXTS, ...ENDS, ...USAGES, ...EVENTS_OF_STREAM];
