import { expect, test } from 'vitest';
import { runCampaign } from './campaign.ts';
import { simulate } from './simulator.ts';

test('400 random runs end, keep every rule and do nothing twice', () => {
  runCampaign(1, 400);
});

test('the same seed gives the same trace, another seed another', () => {
  const hashes = [11, 12, 13].map((seed) => simulate(seed).hash);
  expect([11, 12, 13].map((seed) => simulate(seed).hash)).toEqual(hashes);
  expect(new Set(hashes).size).toBe(3);
});

test('runs are as large and as varied as promised', () => {
  const sizes = Array.from({ length: 300 }, (_, n) => simulate(50_000 + n).world.jobs.size);
  expect(Math.min(...sizes)).toBe(1);
  expect(Math.max(...sizes)).toBeGreaterThanOrEqual(200);
});
