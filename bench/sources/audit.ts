import { auditCitations } from '../../src/sources/audit-citations.ts';
import { formatFootnotes } from '../../src/sources/footnotes.ts';
import type { Source } from '../../src/sources/source.ts';
import type { Measurement } from '../frame.ts';
import { reportOf } from './drafts.ts';
import { quantile, row, timeEach } from './rows.ts';

/** What takes a nested search hours when it is repeated. */
const ADVERSARIAL = ['[[[[', '![![', '`a`` ', '[S1][', '<a "', '"aaa', '1,1.', 'Source 1 '];
const MEGABYTE = 1_000_000;

const find = (id: string): Source => ({ id, key: id, title: id, excerpts: [`${id.slice(1)}0`] });
const known = Array.from({ length: 100 }, (_, at) => `S${at + 1}`);

function work(text: string): void {
  auditCitations(text, find, known);
  formatFootnotes(text, find);
}

/** Megabytes a second for a text of so many bytes that repeats a piece. */
function rateOf(piece: string, length: number): number {
  const text = piece.repeat(Math.ceil(length / piece.length));
  const [took = 1] = timeEach(1, () => work(text));
  return text.length / took;
}

/** Audit and footnotes of a report, of such reports up to ten megabytes, and of what scanners fear. */
export function measureAudit(): Measurement[] {
  const report = reportOf(100);
  const median = quantile(timeEach(500, () => work(report)).subarray(100), 0.5) / 1000;
  const subject = `${Math.round(report.length / 1000)} kB, 100 citations`;
  return [
    row('audit and footnotes, median', subject, median, 'ms'),
    row('audit and footnotes', subject, report.length / 1000 / median, 'MB/s'),
    ...[1, 10].flatMap((megabytes) => {
      const length = megabytes * MEGABYTE;
      const worst = Math.min(...ADVERSARIAL.map((piece) => rateOf(piece, length)));
      return [
        row('audit and footnotes', `${megabytes} MB`, rateOf(report, length), 'MB/s'),
        row('audit and footnotes, slowest adversarial text', `${megabytes} MB`, worst, 'MB/s'),
      ];
    }),
  ];
}
