import type { Intent } from './intents.ts';
import type { PersonaName } from './personas.ts';

/**
 * Sentences with places for what a statement is about. A template can be used only where all its
 * places can be filled, so that every sentence names something of the material.
 *
 * - {s} the sentence as it stands; {q} its words as a quotation; {t} its ‘short name’
 * - {n} a system in it; {f} a figure in it; {a} people in it; {abs} a word such as “always”
 * - {lim} a limit as quotation; {ctx} how things are, as quotation; {task} only for what is to do
 * - {r} requirement ids; {l} the input that says it; {c} a remark on it; {o} ‘another thing to do’
 * - {cite} its citation markers; {p} the project; {k} the section's own subject
 * - {!f} only without a figure, and so on
 */
export type Templates = Readonly<Partial<Record<Intent, readonly string[]>>>;

export const SHARED: Templates = {
  summary: ['{s}'],
  problem: ['The request puts it in these words: {ctx}.', '{s}'],
  opportunity: [
    '{s}',
    'With {n} connected, {t} can be offered without a second place to keep up to date.',
    'Those who would notice {t} first are the {a}.',
    'Once {t} works, {o} can build on it.',
  ],
  strength: [
    '{q} is concrete: it gives {f}.',
    '{q} names {n}, so it can be tried against the real thing.',
    '{q} says whom it concerns: the {a}.',
    '{task}{q} is asked for in the request itself{r}.',
  ],
  weakness: [
    '{!f}{q} gives no figure to test it against.',
    '{!a}{q} names nobody who answers for it.',
    '{q} allows no exception (“{abs}”) and names no limit.',
    '{q} leans on {n} and does not say what happens without it.',
    '{task}{q} leaves open what it needs from {o}.',
  ],
  risk: [
    'If {n} changes or is down, {t} stops.',
    '{q} gives {f}; nothing in the material shows that this can be reached.',
    '{!f}{q} has no figure, so nobody can tell when it fails.',
    '{!a}Nobody is named for {t}, so it may be left undone.',
    '{t} waits for {o}; a delay there moves it as well.',
    '{lim} is a hard limit, and {o} may not fit into it.',
  ],
  mitigation: [
    'Try {t} against {n} before anything is built on it, and keep a way by hand without {n}.',
    'Test {t} against the figure that was given ({f}) on every change.',
    '{!f}Agree on a figure for {t} before work on it starts.',
    'Put {t} behind a switch, so that it can be turned off without touching {o}.',
    'Let some {a} try {t} before it goes live.',
    'Check {o} against {lim} every week, and cut it before the limit is reached.',
  ],
  next: [
    'Get access to {n} and try {t} end to end.',
    'Find out where {t} stands today against {f}.',
    'Draft {t} and show it to the {a}.',
    '{task}Settle what {q} means in practice, and who decides it.',
    'Begin with {t}; {o} builds on it.',
    'Work out how much of {lim} goes into {o}.',
  ],
  question: [
    'What happens to {t} when {n} does not answer?',
    'Is the {f} in {q} a limit or an aim?',
    '{!f}Which figure would show that {t} works?',
    '{!a}Who answers for {t}?',
    'Does {t} have to be there before {o}?',
    'What gives way first when {lim} and {o} do not go together?',
  ],
  assumption: [
    '{n} stays available on terms that allow {t}.',
    'The {f} in {q} is right.',
    'The {a} take part as {q} expects.',
    '{t} can be delivered before {o}.',
  ],
  metric: [
    'For {t}: {f}, as the request has it, counted every week.',
    'Share of {a} for whom {t} works at the first try.',
    'Time that {t} takes, measured at {n}.',
    'Start value, in the words of the request: {ctx}.',
    'Distance to the limit {lim}, shown every week.',
    '{!f}Times a week that {t} does not work, with the first month as the start value.',
  ],
  component: [
    '{n}, which carries {t}.',
    'A part for {t}, kept apart from {o}, so that either can be replaced.',
    '{s}',
  ],
  data: [
    'What {t} reads and writes is kept in one place; {n} receives copies.',
    'For {t}, the {a} see only what is theirs.',
    'A record for {t}, with the time and the origin of every change.',
    '{s}',
  ],
  operation: [
    'Access to {n} is kept in the configuration; when {n} fails, this is logged and shown.',
    'The {a} can see whether {t} works without asking anyone.',
    '{t} goes live on its own, before {o}, so that a fault can be traced to it.',
    'Watch {t} against {f}.',
  ],
  sequence: ['First {n} is connected, since {t} depends on it.', '{t} comes before {o}.', '{s}'],
  dependency: [
    '{t} depends on {n}.',
    '{t} needs {o} in place.',
    'For {t}, the {a} have to take part.',
    '{s}',
  ],
  acceptance: [
    'With {n} switched off, {t} says so and loses nothing.',
    'The {f} in {q} is kept over a week of normal use.',
    'Some {a} complete {t} without help.',
    '{lim} is kept, and anyone can see it.',
    '{t} holds in a trial with real data.',
    'A wrong entry in {t} is refused, and whoever made it is told why.',
    'Done twice by mistake, {t} has the effect of once.',
    'A fault in {t} leaves {o} as it was.',
  ],
  story: [
    'As one of the {a}, I rely on this: {q}.',
    'As the person who answers for {p}, I can see that {t} works together with {n}.',
    'When {t} fails, I am told so and know what to do next.',
    'I can count on {t} and see when it is done.',
  ],
  tradeoff: [
    'Using {n} for {t} is quick to start with and ties the result to {n}.',
    'Doing {t} by hand at first saves building it and costs the {a} time.',
    'Holding to {f} in {t} takes effort that {o} then lacks.',
    '{t} first means {o} later.',
    '{lim} leaves less room for {o}.',
  ],
  cost: [
    '{lim} bounds the cost.',
    '{t} causes running cost at {n}.',
    '{!f}Nothing in the request bounds what {t} may cost.',
    '{t} takes time of the {a}, which has to be paid for.',
  ],
  people: [
    'The {a} are concerned by {t}.',
    '{!a}The request names nobody for {t}; whoever answers for {o} takes it on until it does.',
    'Whoever deals with {n} answers for {t}.',
  ],
  quality: [
    'On {k}, this is given: {q}.',
    'For {k}, {t} decides, since it involves {n}.',
    '{!f}For {k}, {t} needs a figure.',
  ],
  agreement: ['{t} answers the request{r}.', '{lim} is kept as a limit.', '{s}'],
  scope: ['{s}'],
};

/** What each persona says beside that, in its own sense. */
export const VOICES: Readonly<Record<PersonaName, Templates>> = {
  builder: {
    summary: ['For {p}, the shortest useful slice is {t}; {o} can follow.'],
    opportunity: ['{t} can be in use before {o} is finished.'],
    risk: ['{t} may turn out larger than it looks; then {o} slips.'],
    mitigation: ['Cut {t} to its plainest form and ship that first.'],
    next: ['Ship {t} in its plainest form, then {o}.'],
    question: ['What is the least of {t} that is still useful?'],
    metric: ['Days from the start until {t} is in use.'],
    weakness: ['{task}{q} asks for more than a first release needs.'],
    strength: ['{task}{q} can be built and shown on its own.'],
    tradeoff: ['A ready-made way to do {t} is worth more at first than a better one of our own.'],
    sequence: ['Release {t} alone, learn from it, then take up {o}.'],
    quality: ['For {k}, the plainest form of {t} is the easiest to keep right.'],
  },
  skeptic: {
    summary: [
      '{p} stands or falls with {t}; until that is shown to work, {o} is not worth building.',
    ],
    opportunity: ['Evidence that {t} is wanted would decide whether {o} is worth its risk.'],
    risk: ['Nothing in the material proves {t}; if it fails, {o} fails with it.'],
    mitigation: ['Break {t} on purpose, write down what happens, and only then go on.'],
    next: ['{task}Collect evidence for {q} before committing to it.'],
    question: ['{task}What evidence is there for {q}?'],
    metric: ['Failures of {t} that are found by tests, against those found by others.'],
    weakness: ['{q} is stated, not shown.'],
    strength: ['{q} can be proved wrong by a trial, which is more than most of it.'],
    tradeoff: ['Proving {t} first delays {o} and shows early whether either makes sense.'],
    sequence: ['Prove {t} before {o} is begun.'],
    quality: ['For {k}, what has to be shown is that {t} holds when something else fails.'],
  },
  steward: {
    summary: [
      '{p} is judged by those who use it and pay for it: {t} comes first for them, then {o}.',
    ],
    opportunity: ['Who saves time through {t} will also want {o}.'],
    risk: ['{t} has to be looked after every day once it is there; no time is set aside for that.'],
    mitigation: ['Name one person for {t} and a monthly limit for what it costs.'],
    next: ['Ask those who will use {t} how they do it today.'],
    question: ['Who looks after {t} once it is live, and what may that cost a month?'],
    metric: ['Hours a month that go into keeping {t} running.'],
    weakness: ['{q} does not say who looks after it once it is live.'],
    strength: ['{task}{q} is something that its users would notice.'],
    tradeoff: ['{t} saves its users time and costs those who run it some.'],
    sequence: ['Bring in {t} when those who use it have time to learn it, then {o}.'],
    quality: ['For {k}, what counts is how {t} is looked after from day to day.'],
  },
};

/** In a critique the statements are the proposal's; these judge any of them. */
export const VERDICTS: readonly string[] = [
  '{!f}{q} gives no figure.',
  '{!a}{q} names nobody who answers for it.',
  '{q} leaves open what happens when {n} does not answer.',
  '{!cite}{q} gives {f} without a source.',
  '{q} is what the request asks for{r}.',
];

/** What each persona holds against any statement. */
export const VERDICT_VOICES: Readonly<Record<PersonaName, readonly string[]>> = {
  builder: ['{q} does not say what of it comes first.'],
  skeptic: ['{!cite}{q} is not shown to hold.'],
  steward: ['{q} does not say who looks after it once it is live.'],
};

export const CRITIQUE: Templates = {
  summary: ['The proposal rests on this: {q}.', 'It also says {q}.'],
  strength: ['{q} takes up the request{r}.'],
  component: ['{q} builds on {n}.'],
  sequence: ['{l} puts {t} early and does not say why it comes before {o}.'],
  dependency: ['{l} lets {t} depend on {n} without a substitute.'],
  cost: ['{l} gives no cost for {t}.'],
  agreement: ['{q} stays with the request{r}.'],
};

/** Sections in which a critique has its own sentences, beside those that judge. */
export const OWN_IN_CRITIQUE: ReadonlySet<Intent> = new Set<Intent>([
  'strength',
  'weakness',
  'omission',
  'risk',
  'mitigation',
  'next',
  'question',
  'assumption',
  'metric',
]);

/** In a merge, remarks meet the statements that they are about. */
export const MERGE: Templates = {
  agreement: [
    'Kept, with a check before it is built since it {c} ({l}): {q}.',
    'Kept from {l}: {q}.',
  ],
  question: ['Who settles the objection of {l} that {q} {c}?'],
  mitigation: ['Since {q} {c}, as {l} says, this is settled before work on it starts.'],
  weakness: ['{q} {c}, says {l}.'],
  tradeoff: ['{l} holds against {q} that it {c}.'],
  summary: ['{s}'],
};
