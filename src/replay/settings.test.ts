import { expect, test } from 'vitest';
import { MOST_PARTICIPANTS } from '../models/participants.ts';
import { parseSettings } from './settings.ts';

const settingsOf = (count: number): string =>
  JSON.stringify({
    project: { name: 'Bread', domain: null },
    session: { id: '019a0000-0000-7000-8000-000000000000', iteration: 1 },
    process: 'decision-memo',
    models: Array.from({ length: count }, (_, at) => ({ lane: at + 1, model: 'lab/writer' })),
  });

test('a run of as many participants as a run may have can be replayed', () => {
  expect(parseSettings('runs/bread', settingsOf(MOST_PARTICIPANTS)).models).toHaveLength(50);
});

test('a recording of more participants is refused', () => {
  const parse = () => parseSettings('runs/bread', settingsOf(MOST_PARTICIPANTS + 1));
  expect(parse).toThrow(/runs\/bread cannot be replayed: .*models/s);
});
