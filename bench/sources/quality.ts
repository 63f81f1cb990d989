import { createRequire } from 'node:module';
import {
  createNearDuplicates,
  type NearDuplicates,
  type NearMethod,
} from '../../src/sources/near-duplicates.ts';
import { likenessOf } from '../../src/sources/shingles.ts';
import type { Measurement } from '../frame.ts';
import { row } from './rows.ts';

const LEAST = 0.8;

/** The texts of known licences: real ones, of which many are nearly the same. */
function licences(): string[] {
  const list = createRequire(import.meta.url)('spdx-license-list/full.js') as Record<
    string,
    { readonly licenseText: string }
  >;
  return Object.values(list).map(({ licenseText }) => licenseText);
}

/** The runs of three words as they are written, for a truth that shares no code with what it judges. */
function runsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.slice(2).map((word, at) => `${words[at]} ${words[at + 1]} ${word}`));
}

function trueLikeness(one: Set<string>, other: Set<string>): number {
  let common = 0;
  for (const run of one) if (other.has(run)) common++;
  return common / (one.size + other.size - common || 1);
}

type Quality = {
  readonly recall: number;
  readonly precision: number;
  readonly verified: number;
};

/** How many of the pairs that are alike each way finds, and how many texts it compares for that. */
function judgeQuality(methods: readonly NearMethod[]): Map<NearMethod, Quality> {
  const texts = licences();
  const runs = texts.map(runsOf);
  const truth = new Set<string>();
  for (const [b, other] of runs.entries()) {
    for (let a = 0; a < b; a++) if (trueLikeness(runs[a]!, other) >= LEAST) truth.add(`${a}/${b}`);
  }
  const pairs = (texts.length * (texts.length - 1)) / 2;
  return new Map(
    methods.map((method) => [method, judge(createNearDuplicates(method), texts, truth, pairs)]),
  );
}

function judge(near: NearDuplicates, texts: string[], truth: Set<string>, pairs: number): Quality {
  let [verified, right, wrong] = [0, 0, 0];
  for (const [b, text] of texts.entries()) {
    const signature = near.sign(text);
    const candidates = near.find(signature).map((one) => one - 1);
    near.add(b + 1, signature);
    verified += candidates.length;
    for (const a of candidates) {
      if (likenessOf(texts[a]!, text) < LEAST) continue;
      if (truth.has(`${a}/${b}`)) right++;
      else wrong++;
    }
  }
  return {
    recall: right / truth.size,
    precision: right / (right + wrong),
    verified: verified / pairs,
  };
}

/** The ways to find near duplicates, side by side. */
export function measureQuality(): Measurement[] {
  return [...judgeQuality(['min-hash', 'lsh-forest', 'sim-hash'])].flatMap(
    ([method, { recall, precision, verified }]) => [
      row('licences at least 0.8 alike: recall', method, recall, ''),
      row('licences at least 0.8 alike: precision', method, precision, ''),
      row('pairs of licences that were compared', method, verified * 100, '%'),
    ],
  );
}
