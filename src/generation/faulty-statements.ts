import { requireContract } from '../recipe/contract.ts';
import { sentencesOf } from '../sources/claims.ts';
import { findMarkers } from '../sources/markers.ts';
import { findProse } from '../sources/prose-spans.ts';
import type { Assembly } from './assemble-request.ts';
import type { DocumentDefect } from './audit-document.ts';
import { findTexts } from './document-texts.ts';
import { findEvidence } from './find-evidence.ts';

/** A statement whose citation is wrong or missing. */
export type FaultyStatement = {
  /** Its words, without citations. */
  readonly text: string;
  /** The ids that it cites. */
  readonly cites: readonly string[];
};

/** The statements in which the audit found faults, each once. */
export function findFaultyStatements(
  { stage, step }: Pick<Assembly, 'stage' | 'step'>,
  content: object,
  defects: readonly DocumentDefect[],
): FaultyStatement[] {
  const texts = [...findTexts(requireContract(stage, step), content)];
  const evidence = [...findEvidence(content)];
  const found = defects.flatMap((defect): FaultyStatement[] => {
    const record = evidence.find(
      ({ section, excerpt }) => section === defect.section && excerpt === defect.text,
    );
    if (record) return [{ text: record.excerpt, cites: idsIn(record.source) }];
    const holder = texts.find(
      ({ section, text }) => section === defect.section && text.includes(defect.text),
    );
    return holder ? [sentenceAround(holder.text, defect.text)] : [];
  });
  return [...new Map(found.map((one) => [one.text, one])).values()];
}

const idsIn = (text: string): string[] => text.match(/S[1-9]\d{0,8}/g) ?? [];

function sentenceAround(text: string, wanted: string): FaultyStatement {
  const at = text.indexOf(wanted);
  const span = sentencesOf(text, 0).find(({ end }) => end > at);
  const sentence = text.slice(span?.start ?? 0, span?.end ?? text.length).trim();
  const markers = findMarkers(sentence, findProse(sentence));
  const words = markers.reduceRight(
    (rest, { start, end }) => rest.slice(0, start) + rest.slice(end),
    sentence,
  );
  return { text: words.trim(), cites: markers.flatMap(({ ids }) => ids) };
}
