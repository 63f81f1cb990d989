import type { RawRecord } from './collect-records.ts';
import { readIds } from './ids.ts';
import { readText } from './read-values.ts';
import type { Decision, Figure, Finding } from './types.ts';

/** A finding of a critique or of an adviser. */
export function readFinding(raw: RawRecord): Finding {
  return {
    id: readText(raw['id']),
    claim: readText(raw['claim']),
    evidence: readText(raw['evidence']),
    weight: readWeight(readText(raw['weight'])),
    remedy: readText(raw['remedy']),
    option: readText(raw['option']),
    decided: readText(raw['decision']),
  };
}

function readWeight(text: string): Finding['weight'] {
  if (/heavy|critical|severe|major|high|blocker|fatal/i.test(text)) return 'heavy';
  if (/medium|moderate|middle/i.test(text)) return 'medium';
  return /light|minor|low|small|trivial/i.test(text) ? 'light' : '';
}

/** What a synthesis or a result decided on findings; `finding` may name several. */
export function readDecision(raw: RawRecord): Decision {
  return {
    findings: readIds(raw['finding']),
    decision: readVerdict(readText(raw['decision'])),
    where: readText(raw['where']),
    why: readText(raw['why']),
    owner: readText(raw['owner']),
  };
}

/** The refusal is looked for first, since "not taken up" holds "taken up". */
function readVerdict(text: string): Decision['decision'] {
  if (/reject|refus|declin|dismiss|\bnot (taken|accepted|adopted)/i.test(text)) return 'rejected';
  if (/tak(e|en)[ _-]?up|accept|adopt|carried|agreed|done/i.test(text)) return 'taken_up';
  return /open|defer|postpone|undecided|pending/i.test(text) ? 'open' : '';
}

/** A named value that documents share; its value stays as it was written. */
export function readFigure(raw: RawRecord): Figure {
  return {
    name: readText(raw['name']),
    value: readText(raw['value']),
    unit: readText(raw['unit']),
  };
}
