/** What a persona looks for first; the sides of the debate differ by it. */
export type Persona = {
  readonly name: PersonaName;
  readonly description: string;
  /** What it cares for, as words within a sentence. */
  readonly concern: string;
  /** Sentences with these words come first. */
  readonly stress: string;
  /** Which traits of a sentence it values; others count nothing. */
  readonly values: { readonly figure: number; readonly risk: number; readonly actor: number };
};

export const PERSONA_NAMES = ['builder', 'skeptic', 'steward'] as const;
export type PersonaName = (typeof PERSONA_NAMES)[number];

export const isPersonaName = (name: string): name is PersonaName =>
  PERSONA_NAMES.some((one) => one === name);

export const PERSONAS: Readonly<Record<PersonaName, Persona>> = {
  builder: {
    name: 'builder',
    description: 'stresses delivery and simplicity',
    concern: 'delivery and simplicity',
    stress: `build deliver ship simple small first quick launch release start feature use reuse
      existing standard integrate automate show work week step prototype minimal`,
    values: { figure: 0.1, risk: 0, actor: 0.1 },
  },
  skeptic: {
    name: 'skeptic',
    description: 'stresses risk, evidence and failure',
    concern: 'risk, evidence and failure',
    stress: `risk fail failure error lose loss evidence prove test measure limit security privacy
      attack depend outage down wrong never must legal compliance audit accuracy conflict data`,
    values: { figure: 0.3, risk: 0.5, actor: 0 },
  },
  steward: {
    name: 'steward',
    description: 'stresses users, cost and operation',
    concern: 'users, cost and operation',
    stress: `user customer staff people cost price budget month support operate maintain train time
      owner accessible language help notify pay service daily manual hour team monitor`,
    values: { figure: 0.1, risk: 0, actor: 0.5 },
  },
};
