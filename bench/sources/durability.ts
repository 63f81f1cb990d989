import { SourceRegistry } from '../../src/sources/registry.ts';
import type { Measurement } from '../frame.ts';
import { draftOf } from './drafts.ts';
import { peakMegabytes, row } from './rows.ts';

const COUNT = 100_000;
const CALLERS = 1_000;

/** A thousand callers at a time, each of which waits until its source is on the disk. */
export async function measureDurable(folder: string): Promise<Measurement[]> {
  const registry = await SourceRegistry.open(folder);
  const drafts = Array.from({ length: COUNT }, (_, at) => draftOf(at, () => 1));
  const started = performance.now();
  for (let from = 0; from < COUNT; from += CALLERS) {
    await Promise.all(drafts.slice(from, from + CALLERS).map((draft) => registry.register(draft)));
  }
  const rate = (COUNT / (performance.now() - started)) * 1000;
  await registry.close();
  return [row('durable registrations, 1,000 callers', '10⁵ sources', rate, '/s')];
}

/** Opens a log that was written before, up to the first registration. */
export async function measureRecovery(folder: string): Promise<Measurement[]> {
  const opening = performance.now();
  const registry = await SourceRegistry.open(folder);
  const opened = performance.now();
  const subject = `${registry.size} sources`;
  await registry.register({ title: 'The next one', excerpts: ['It was found after a restart.'] });
  const registered = performance.now();
  await registry.close();
  return [
    row('recovery of the log', subject, (opened - opening) / 1000, 's'),
    row('first registration after it', subject, registered - opened, 'ms'),
    row('memory of the recovery, the most at any time', subject, peakMegabytes(), 'MB'),
  ];
}
