/** What a persona looks for first; the lanes of a debate differ by it. */
type Persona = {
  readonly concern: string;
  /** Sentences with these words come first. */
  readonly stress: ReadonlySet<string>;
};

export const PERSONA_NAMES = ['builder', 'skeptic', 'steward'] as const;
export type PersonaName = (typeof PERSONA_NAMES)[number];

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

export const PERSONAS: Readonly<Record<PersonaName, Persona>> = {
  builder: {
    concern: 'delivery and simplicity',
    stress: words(`build deliver ship simple small first quick launch release start feature use
      reuse existing standard integrate automate show work week step prototype minimal page`),
  },
  skeptic: {
    concern: 'risk, evidence and failure',
    stress: words(`risk fail failure error lose loss evidence prove test measure limit security
      privacy attack depend outage down wrong never must legal law audit conflict data fear`),
  },
  steward: {
    concern: 'users, cost and operation',
    stress: words(`user users customer customers staff people cost price budget euros month support
      operate maintain train time owner accessible help notify pay daily hour team members`),
  },
};
