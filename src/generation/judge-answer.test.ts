import { describe, expect, test } from 'vitest';
import {
  type ChainState,
  FIRST_TURN,
  type JudgedAnswer,
  judgeAnswer,
  mostRepetitions,
} from './judge-answer.ts';

const contract = {
  type: 'object',
  required: ['summary', 'risks'],
  properties: { summary: { type: 'string' }, risks: { type: 'array', items: { type: 'string' } } },
};
const content = { summary: 'A bakery sells bread in the street and on the web.', risks: [] };
const WHOLE = JSON.stringify(content);
const BODY = '# Plan\n';

const turn = (text: string, over: Partial<JudgedAnswer> & { finish?: string } = {}) =>
  judgeAnswer({
    soFar: '',
    result: { text, finishReason: (over.finish ?? 'stop') as 'stop' },
    state: FIRST_TURN,
    contract,
    sections: ['summary', 'risks'],
    given: [],
    limit: { maxTurns: 50, maxIdleTurns: 3, maxChars: 1_000 },
    countRead: () => 0,
    findDefects: () => [],
    tryRendering: () => ({ kind: 'rendered', body: BODY }),
    ...over,
  });

describe('a turn', () => {
  test.each(['stop', 'length', 'interrupted', 'error'])(
    'that brings the whole document is one, although it ended by %s',
    (finish) => {
      expect(turn(WHOLE, { finish })).toEqual({ kind: 'document', content, body: BODY });
      const soFar = WHOLE.slice(0, 30);
      expect(turn(WHOLE.slice(30), { soFar, finish })).toEqual({
        kind: 'document',
        content,
        body: BODY,
      });
    },
  );

  test('whose model asks to go on is believed only where something is missing', () => {
    const flagged = JSON.stringify({ ...content, continuation_needed: true, resume_cursor: 'x' });
    expect(turn(flagged)).toEqual({ kind: 'document', content, body: BODY });
    const partial = JSON.stringify({ summary: 'S', continuation_needed: true });
    expect(turn(partial)).toMatchObject({ kind: 'repair', problems: '- `risks` is missing.' });
  });

  test('that brings the portions it was asked for is followed by the request for the others', () => {
    const part = JSON.stringify({ summary: content.summary });
    const state = { ...FIRST_TURN, turns: 9 };
    const next = { kind: 'part', only: ['risks'], state: FIRST_TURN };
    expect(turn(part, { later: ['risks'], state })).toEqual(next);
    expect(turn('{"risks": []}', { later: ['risks'] })).toMatchObject({ kind: 'repair' });
    const given = [{ summary: content.summary.repeat(4) }];
    const taken = JSON.stringify(given[0]);
    expect(turn(taken, { later: ['risks'], state, given })).toEqual(next);
    const kept = { summary: content.summary };
    expect(turn('{"risks": []}', { kept })).toEqual({ kind: 'document', content, body: BODY });
  });

  test('that brings some fields of a section is not held to the others', () => {
    const record = { type: 'string' };
    const notes = {
      type: 'object',
      required: ['scope', 'why'],
      properties: { scope: record, why: record },
    };
    const wide = { ...contract, required: ['notes'], properties: { notes } };
    const over = { contract: wide, sections: ['notes'] };
    const later = ['notes#why'];
    const next = { kind: 'part', only: later, state: FIRST_TURN };
    expect(turn('{"notes": {"scope": "All of it"}}', { ...over, later })).toEqual(next);
    const kept = { notes: { scope: 'All of it' } };
    const whole = { notes: { scope: 'All of it', why: 'It pays' } };
    expect(turn('{"notes": {"why": "It pays"}}', { ...over, kept })).toEqual({
      kind: 'document',
      content: whole,
      body: BODY,
    });
  });

  test('that was asked for optional sections alone may have nothing to say', () => {
    const optional = { ...contract, required: ['risks'] };
    const asked = { contract: optional, later: ['risks'] };
    expect(turn('{}', asked)).toEqual({ kind: 'part', only: ['risks'], state: FIRST_TURN });
    expect(turn('{}', { contract: optional })).toMatchObject({ kind: 'repair' });
    expect(turn('{}', { later: ['risks'] })).toMatchObject({ kind: 'repair' });
  });

  test('that brings a ballot nobody can count is asked for once more, then taken', () => {
    const spoilt = { findDefects: () => ['`rankings` does not rank A and B.'] };
    const first = turn(WHOLE, { ...spoilt, state: { ...FIRST_TURN, repairs: 1 } });
    expect(first).toEqual({
      kind: 'mend',
      problems: '- `rankings` does not rank A and B.',
      only: [],
      state: { turns: 1, idle: 0, repairs: 1, mended: 1 },
    });
    const state = { turns: 0, idle: 0, repairs: 1, mended: 1 };
    expect(turn('{}', { ...spoilt, state })).toMatchObject({ state: { repairs: 2, mended: 1 } });
    expect(turn(WHOLE, { ...spoilt, state })).toEqual({ kind: 'document', content, body: BODY });
    expect(turn(WHOLE, { findDefects: () => [] })).toEqual({
      kind: 'document',
      content,
      body: BODY,
    });
  });

  test('whose citations are wrong is asked for the sections concerned, at most twice', () => {
    const fault = {
      section: 'summary',
      code: 'unknown_source' as const,
      message: '`summary` cites [S9].',
    };
    const citations = {
      hasSources: true,
      normalise: (one: object) => ({ ...content, ...one, summary: 'Bread [S9].' }),
      findFaults: () => [fault],
      settle: (one: object) => ({ ...content, ...one, summary: 'Bread [unknown source: S9].' }),
    };
    const bodies = [BODY, '# Settled\n'];
    const over = {
      citations,
      tryRendering: () => ({ kind: 'rendered' as const, body: bodies.shift() ?? null }),
    };
    expect(turn(WHOLE, over)).toEqual({
      kind: 'mend',
      problems: '- `summary` cites [S9].',
      only: ['summary'],
      state: { turns: 1, idle: 0, repairs: 0, audits: 1 },
    });
    bodies.unshift(BODY);
    const state = { ...FIRST_TURN, mended: 1, audits: 1 };
    expect(turn(WHOLE, { ...over, state })).toMatchObject({ kind: 'mend', state: { audits: 2 } });
    bodies.unshift(BODY);
    expect(turn(WHOLE, { ...over, state: { ...state, audits: 2 } })).toEqual({
      kind: 'document',
      content: { ...content, summary: 'Bread [unknown source: S9].' },
      body: '# Settled\n',
    });
    bodies.unshift(BODY);
    const findDefects = () => ['It does not add up.'];
    expect(turn(WHOLE, { ...over, findDefects })).toMatchObject({
      problems: '- It does not add up.\n- `summary` cites [S9].',
      only: [],
      state: { mended: 1, audits: 1 },
    });
  });

  test('that brings a document nobody can show is asked for again, then refused', () => {
    const fault = {
      kind: 'fault' as const,
      reason: 'It shows as 9 characters; 8 are the most.',
      isTemplate: false,
    };
    const unshown = { tryRendering: () => fault };
    expect(turn(WHOLE, unshown)).toMatchObject({ kind: 'repair', problems: `- ${fault.reason}` });
    expect(turn(WHOLE, { ...unshown, state: { ...FIRST_TURN, repairs: 2 } })).toMatchObject({
      kind: 'give-up',
      code: 'model_output_invalid',
    });
  });

  test('whose template fails for every document ends at once, by the name of that fault', () => {
    const fault = { kind: 'fault' as const, reason: 'The template fails: x', isTemplate: true };
    expect(turn(WHOLE, { tryRendering: () => fault })).toEqual({
      kind: 'give-up',
      code: 'template_invalid',
      reason: 'The template fails: x',
    });
  });

  test('that states only changes is laid over the document that it extends', () => {
    const extended = { summary: 'Old.', risks: ['Rain.'] };
    const judged = turn(JSON.stringify({ summary: content.summary }), { extended });
    expect(judged).toEqual({
      kind: 'document',
      content: { summary: content.summary, risks: ['Rain.'] },
      body: BODY,
    });
  });

  test('that ends early goes on, whatever reason the provider gives', () => {
    for (const finish of ['stop', 'length', 'interrupted']) {
      const state = { turns: 1, poor: 1, idle: 0, repairs: 0 };
      expect(turn(WHOLE.slice(0, 40), { finish })).toEqual({ kind: 'continue', state });
    }
  });

  test('that the provider withheld ends the chain', () => {
    expect(turn(WHOLE, { finish: 'content_filter' })).toMatchObject({ code: 'model_refused' });
  });

  test.each([
    ['nothing', '', 'The answer is empty.'],
    ['prose', 'I cannot do that.', 'The answer holds no JSON object.'],
    ['an empty record', '{}', 'The document is empty.'],
    ['a wrong shape', '{"summary": {"a": 1}, "risks": []}', '`summary` must be a text'],
  ])('that brings %s is to be written again', (_, text, problem) => {
    const verdict = turn(text);
    expect(verdict).toMatchObject({ kind: 'repair', state: { repairs: 1, turns: 1 } });
    expect(verdict).toHaveProperty('problems', expect.stringContaining(problem));
  });

  test('that only repeats what was given is to be written again', () => {
    const given = { summary: 'All that is known of the bakery. '.repeat(9), risks: ['None yet.'] };
    const verdict = turn(JSON.stringify(given), { given: [given] });
    expect(verdict).toMatchObject({ kind: 'repair' });
  });

  test('may be wrong twice, not a third time', () => {
    const state = { turns: 0, idle: 0, repairs: 2 };
    expect(turn('{}', { state })).toMatchObject({ kind: 'give-up', code: 'model_output_invalid' });
  });
});

describe('a chain', () => {
  const soFar = WHOLE.slice(0, 40);
  const state = { turns: 7, idle: 2, repairs: 1 };

  test('that makes progress forgets its idle turns', () => {
    const verdict = turn(WHOLE.slice(40, 60), { soFar, state, finish: 'length' });
    expect(verdict).toMatchObject({ kind: 'continue', state: { turns: 8, idle: 0, repairs: 1 } });
  });

  test.each([
    ['nothing', ''],
    ['what was there already', WHOLE.slice(10, 40)],
    ['a new start', '{"summary": "Another beginning of the same thing, which leads nowhere'],
    ['another document', '{"plan": "Something else that was not asked for.", "phases": []}'],
  ])('that brings %s three times in a row ends with a name', (_, text) => {
    const first = turn(text, { soFar, state: { ...state, idle: 0 } });
    expect(first).toMatchObject({ kind: 'continue', state: { turns: 8, idle: 1, repairs: 1 } });
    expect(turn(text, { soFar, state })).toMatchObject({
      kind: 'give-up',
      code: 'continuation_exhausted',
      reason: '3 turns in a row brought nothing new.',
    });
  });

  test('whose turns add too little for what they read ends after five of them', () => {
    const countRead = () => 32_000;
    const poor = { soFar, finish: 'length', countRead } as const;
    const spent = { turns: 12, poor: 3, idle: 0, repairs: 0 };
    const verdict = turn('bread '.repeat(13), { ...poor, state: spent });
    expect(verdict).toMatchObject({ kind: 'continue', state: { turns: 13, poor: 4, idle: 0 } });
    const next = { ...spent, poor: 4 };
    expect(turn('bread '.repeat(13), { ...poor, state: next })).toEqual({
      kind: 'give-up',
      code: 'continuation_exhausted',
      reason: '5 of 13 turns added too little for what they had to read.',
    });
    const enough = turn('bread '.repeat(14), { ...poor, state: next });
    expect(enough).toMatchObject({ kind: 'continue', state: { poor: 4 } });
  });

  const LONG = { maxTurns: 60, maxIdleTurns: 3, maxChars: 400_000 };

  test('that brings prose alone ends after three turns, however long and new it is', () => {
    let soFar = '';
    let state: ChainState = FIRST_TURN;
    const verdicts = Array.from({ length: 3 }, (_, n) => {
      const text = `Thought ${n} of what the summary: might say, at length. `.repeat(40);
      const verdict = turn(text, { soFar, state, limit: LONG, finish: 'length' });
      soFar += text;
      if (verdict.kind === 'continue') ({ state } = verdict);
      return verdict;
    });
    expect(verdicts.map(({ kind }) => kind)).toEqual(['continue', 'continue', 'give-up']);
    expect(verdicts[2]).toMatchObject({
      code: 'continuation_exhausted',
      reason: '3 turns in a row brought no section of the contract.',
    });
  });

  /** How many calls a text without end takes that adds so many characters at a time. */
  const callsOf = (each: number, expected: JudgedAnswer['expected']): number => {
    let soFar = '{"summary": "';
    let state: ChainState = FIRST_TURN;
    for (;;) {
      const text = `${state.turns} ${'bread '.repeat(each / 6)}`;
      const over = { soFar, state, limit: LONG, finish: 'length', ...(expected && { expected }) };
      const verdict = turn(text, over);
      if (verdict.kind !== 'continue') return state.turns + 1;
      soFar += text;
      ({ state } = verdict);
    }
  };

  test('without end takes ten calls where its model could have been done in them', () => {
    expect(callsOf(1_200, { chars: 10_000, tokensAtOnce: 8_000 })).toBe(10);
    expect(callsOf(3_000, { chars: 10_000 })).toBe(10);
    // More where its model writes little at once, up to twice the expected length.
    expect(callsOf(600, { chars: 10_000, tokensAtOnce: 200 })).toBe(34);
    expect(callsOf(600, { chars: 10_000 })).toBe(34);
    expect(callsOf(600, { chars: 100_000, tokensAtOnce: 200 })).toBe(60);
  });

  test('never needs more than 600 characters in a turn, however long the prompt is', () => {
    const limit = { maxTurns: 50, maxIdleTurns: 3, maxChars: 100_000 };
    const state = { turns: 9, poor: 4, idle: 0, repairs: 0 };
    const over = { soFar, limit, state, finish: 'length', countRead: () => 4_000_000 } as const;
    expect(turn('bread '.repeat(100), over)).toMatchObject({ kind: 'continue' });
    expect(turn('bread '.repeat(99), over)).toMatchObject({ kind: 'give-up' });
  });

  test.each([
    ['turns', { state: { ...state, turns: 49 } }],
    ['characters', { soFar: `{"summary": "${'bread '.repeat(170)}` }],
  ])('that reaches its limit of %s ends with a name', (_, over) => {
    const text = 'and what else there is to say about it';
    expect(turn(text, { soFar, finish: 'length', ...over })).toMatchObject({
      kind: 'give-up',
      code: 'continuation_exhausted',
    });
  });
});

describe('a document that only cites too few sources', () => {
  const uncited = { section: 'risks', code: 'uncited_statement' as const, message: 'no source' };
  const invented = { section: 'risks', code: 'unknown_source' as const, message: '[S9]' };
  const rules = {
    hasSources: true,
    normalise: (one: object) => ({ ...content, ...one }),
    findFaults: () => [uncited],
    settle: (one: object) => ({ ...content, ...one }),
  };

  test('is asked for once more, and then kept', () => {
    const asked = turn(WHOLE, { citations: rules });
    expect(asked).toMatchObject({ kind: 'mend', isUncited: true });
    expect(asked).toMatchObject({ state: { audits: 1, uncited: 1 } });
    const state = { ...FIRST_TURN, audits: 1, uncited: 1 };
    expect(turn(WHOLE, { citations: rules, state })).toMatchObject({ kind: 'document' });
    // As its recipe says, it may then be asked for in another way.
    const rerun = turn(WHOLE, { citations: rules, state, mostReruns: 1 });
    expect(rerun).toMatchObject({ kind: 'mend', isUncited: true, unsupported: content });
  });

  test('is kept at once where the run may not ask for that any more', () => {
    const citations = { ...rules, asksForSources: false };
    expect(turn(WHOLE, { citations, mostReruns: 2 })).toMatchObject({ kind: 'document' });
  });

  test('is told of them where it is asked for again for another reason', () => {
    const citations = { ...rules, asksForSources: false };
    const wrong = { ...citations, findFaults: () => [uncited, invented] };
    const both = turn(WHOLE, { citations: wrong });
    expect(both).toMatchObject({ kind: 'mend', problems: '- no source\n- [S9]' });
    expect(both).not.toHaveProperty('isUncited');
    const spoilt = turn(WHOLE, { citations, findDefects: () => ['a defect'] });
    expect(spoilt).toMatchObject({ kind: 'mend', problems: '- a defect\n- no source' });
    expect(spoilt).not.toHaveProperty('isUncited');
  });
});

describe('requests to write a document again', () => {
  /** The longest chain of them that any answers lead to: each is invalid, has defects or faults. */
  function longest(over: Partial<JudgedAnswer>, state: ChainState = FIRST_TURN): number {
    const fault = { section: 'risks', code: 'unknown_source' as const, message: 'wrong' };
    const citations = { ...over.citations!, findFaults: () => [fault] };
    const answers = [
      turn('{}', { ...over, state }),
      turn(WHOLE, { ...over, state, findDefects: over.findDefects ?? (() => []) }),
      turn(WHOLE, { ...over, state, findDefects: () => [], citations }),
    ];
    const lengths = answers.map((verdict) =>
      verdict.kind === 'repair' || verdict.kind === 'mend' ? 1 + longest(over, verdict.state) : 0,
    );
    return Math.max(...lengths);
  }
  const citationsWith = (hasSources: boolean): NonNullable<JudgedAnswer['citations']> => ({
    hasSources,
    normalise: (one) => one,
    findFaults: () => [],
    settle: (one) => one,
  });

  test.each([
    { isChecked: false, isAudited: false, mostReruns: 0, most: 2 },
    { isChecked: true, isAudited: false, mostReruns: 0, most: 3 },
    { isChecked: false, isAudited: true, mostReruns: 0, most: 4 },
    { isChecked: true, isAudited: true, mostReruns: 2, most: 7 },
    // Without sources an invented citation takes none of the requests that a recipe may add.
    { isChecked: false, isAudited: false, mostReruns: 2, most: 2 },
  ])('are at most what an estimate counts: $most', ({ most, ...asked }) => {
    const findDefects = (): string[] => (asked.isChecked ? ['a defect'] : []);
    const citations = citationsWith(asked.isAudited);
    expect(longest({ findDefects, citations, mostReruns: asked.mostReruns })).toBe(most);
    expect(mostRepetitions(asked)).toBe(most);
  });
});
