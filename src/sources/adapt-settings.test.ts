import { expect, test } from 'vitest';
import { SettingsAdapter, USUAL_SETTINGS } from './adapt-settings.ts';

const USUAL = USUAL_SETTINGS.cacheCharacters;

test('a cache that drops what is asked for again grows, and shrinks when the load is gone', () => {
  const adapter = new SettingsAdapter();
  const size = (): number => adapter.settings.cacheCharacters;
  // Many projects in turn: most lookups miss, and each drops an entry.
  for (let at = 0; at < 32; at++) adapter.noteLookup(at % 3 === 0, 1, USUAL);
  expect(size()).toBe(2 * USUAL);
  // Hits are frequent enough: what is dropped now and then changes nothing.
  for (let at = 0; at < 320; at++) adapter.noteLookup(at % 4 > 0, at % 4 > 0 ? 0 : 1, size());
  expect(size()).toBe(2 * USUAL);
  // One small project is left: it shrinks, but only after four calm rounds.
  for (let at = 0; at < 3 * 32; at++) adapter.noteLookup(true, 0, 1_000);
  expect(size()).toBe(2 * USUAL);
  for (let at = 0; at < 32; at++) adapter.noteLookup(true, 0, 1_000);
  expect(size()).toBe(USUAL);
});

test('a cache stays within its bounds, whatever is asked for', () => {
  const adapter = new SettingsAdapter();
  for (let at = 0; at < 10_000; at++) adapter.noteLookup(false, 1, USUAL);
  expect(adapter.settings.cacheCharacters).toBe(64_000_000);
  for (let at = 0; at < 10_000; at++) adapter.noteLookup(true, 0, 0);
  expect(adapter.settings.cacheCharacters).toBe(2_000_000);
});

test('prompts show less of sources while they must be shortened to fit, and more again later', () => {
  const adapter = new SettingsAdapter();
  const shown = (): number => adapter.settings.textCharacters;
  for (let at = 0; at < 16; at++) adapter.notePrompt(at % 2 === 0);
  expect(shown()).toBe(40_000);
  for (let at = 0; at < 320; at++) adapter.notePrompt(true);
  expect(shown()).toBe(20_000);
  // At the edge, where one in sixteen does not fit, nothing changes in either direction.
  for (let at = 0; at < 320; at++) adapter.notePrompt(at % 16 === 0);
  expect(shown()).toBe(20_000);
  for (let at = 0; at < 4 * 32; at++) adapter.notePrompt(false);
  expect(shown()).toBe(80_000);
});

test('settings of an earlier process are taken within the bounds', () => {
  const adapter = new SettingsAdapter();
  expect(adapter.isUsual).toBe(true);
  adapter.resume({ cacheCharacters: 1e12, textCharacters: Number.NaN });
  expect(adapter.settings).toEqual({ cacheCharacters: 64_000_000, textCharacters: 80_000 });
  adapter.resume({ cacheCharacters: 16_000_000, textCharacters: 40_000 });
  expect(adapter.isUsual).toBe(false);
  expect(adapter.settings).toEqual({ cacheCharacters: 16_000_000, textCharacters: 40_000 });
});
