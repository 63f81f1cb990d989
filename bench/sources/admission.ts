import { canonicalUrl } from '../../src/sources/canonical-key.ts';
import { SourceIndex } from '../../src/sources/source-index.ts';
import { SourceLog } from '../../src/sources/source-log.ts';
import type { Measurement } from '../frame.ts';
import { chanceOf, draftOf, textOf } from './drafts.ts';
import { peakMegabytes, quantile, row, timeEach } from './rows.ts';

const GROUP = 1_000;

/** Admission with the disk, as the registry does it for a group of sources, up to a million of them. */
export async function measureAdmission(folder: string, many: number): Promise<Measurement[]> {
  const log = new SourceLog(folder);
  const readAt = (place: number) => JSON.parse(log.readAt(place).toString());
  const index = new SourceIndex(readAt, 'min-hash');
  const chance = chanceOf(1);
  const times = new Float64Array(many);
  let spent = 0;
  for (let from = 0; from < many; from += GROUP) {
    const drafts = Array.from({ length: GROUP }, (_, at) => draftOf(from + at, chance));
    const started = performance.now();
    const group = timeEach(GROUP, (at) => {
      index.admit(drafts[at]!, {}, (entry, signature) =>
        index.apply(entry, log.stage(JSON.stringify(entry)), signature),
      );
    });
    await log.flush();
    spent += performance.now() - started;
    times.set(group, from);
  }
  const last = times.subarray(many - many / 10);
  const subject = `${index.size} sources of ${many} drafts`;
  const rows = [
    row('register, median of the last tenth', subject, quantile(last, 0.5), 'µs'),
    row('register, 99th percentile of the last tenth', subject, quantile(last, 0.99), 'µs'),
    row('registered, with the disk', subject, (many / spent) * 1000, '/s'),
    row('memory, the most at any time', subject, peakMegabytes(), 'MB'),
    ...measureDuplicates(index, many, subject),
  ];
  log.close();
  return rows;
}

/** What it takes to find a source by its key, and those with nearly the same text. */
function measureDuplicates(index: SourceIndex, many: number, subject: string): Measurement[] {
  const known = Array.from(
    { length: 100_000 },
    (_, at) => `url:example-${at % 997}.org/papers/${at}`,
  );
  const urls = known.map((key) => `https://${key.slice(4)}`);
  const started = performance.now();
  for (const key of known) index.find(key);
  const find = performance.now() - started;
  for (const url of urls) canonicalUrl(url);
  const canonical = performance.now() - started - find;
  const fresh = Array.from({ length: 100_000 }, (_, at) => textOf(many * 3 + at));
  let mistaken = 0;
  const near = timeEach(fresh.length, (at) => {
    mistaken += index.findNear({ excerpts: [fresh[at]!] }, 0.8).length;
  });
  return [
    row('exact duplicate by key', subject, (find / known.length) * 1000, 'µs'),
    row('key of an address', subject, (canonical / urls.length) * 1000, 'µs'),
    row('near duplicate, median', subject, quantile(near, 0.5), 'µs'),
    row('near duplicate, 99th percentile', subject, quantile(near, 0.99), 'µs'),
    row('unrelated texts of 10⁵ that were taken for near', subject, mistaken, ''),
  ];
}
