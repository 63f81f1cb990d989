import type { Mode } from './intents.ts';
import type { Source } from './material.ts';
import type { Persona } from './personas.ts';
import type { Section } from './section.ts';
import {
  CRITIQUE,
  MERGE,
  OWN_IN_CRITIQUE,
  SHARED,
  VERDICT_VOICES,
  VERDICTS,
  VOICES,
} from './templates.ts';

/** A template that may be used; `voice` marks those that a section should begin with. */
export type Offer = { readonly template: string; readonly voice: boolean };

/** The sentence as it stands. */
export const VERBATIM = '{s}';

const AS_IT_STANDS: readonly Offer[] = [{ template: VERBATIM, voice: false }];

const offer = (voices: readonly string[], others: readonly string[]): readonly Offer[] => [
  ...voices.map((template) => ({ template, voice: true })),
  ...others.map((template) => ({ template, voice: false })),
];

/** What may be said of a statement in a section; `same`: it stood in one of that name. */
export function offerTemplates(
  { intent }: Section,
  { kind, statement }: Source,
  mode: Mode,
  persona: Persona,
  same: boolean,
): readonly Offer[] {
  if (kind === 'header') return same ? AS_IT_STANDS : [];
  const keeps = mode === 'merge' || mode === 'plan' || kind === 'feedback';
  const asks = intent !== 'question' || statement.traits.question;
  if (same && keeps && statement.remark === '' && asks) return AS_IT_STANDS;
  const own = VOICES[persona.name][intent] ?? [];
  const common = SHARED[intent] ?? [VERBATIM];
  if (mode !== 'critique' || kind !== 'document') {
    return offer([...(mode === 'merge' ? (MERGE[intent] ?? []) : []), ...own], common);
  }
  const special = CRITIQUE[intent] ?? [];
  if (OWN_IN_CRITIQUE.has(intent)) {
    return offer(
      [...own, ...special],
      common.filter((one) => one !== VERBATIM),
    );
  }
  const verdicts = [...special, ...VERDICT_VOICES[persona.name], ...VERDICTS];
  return offer(intent === 'summary' ? own : [], verdicts);
}
