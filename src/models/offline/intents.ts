/** What a section is for, as far as its name tells. */
export type Intent =
  | 'summary'
  | 'problem'
  | 'opportunity'
  | 'strength'
  | 'weakness'
  | 'omission'
  | 'risk'
  | 'mitigation'
  | 'next'
  | 'question'
  | 'assumption'
  | 'metric'
  | 'component'
  | 'data'
  | 'operation'
  | 'sequence'
  | 'dependency'
  | 'acceptance'
  | 'story'
  | 'tradeoff'
  | 'cost'
  | 'people'
  | 'quality'
  | 'agreement'
  | 'reference'
  | 'scope';

type Rule = {
  readonly intent: Intent;
  readonly key: RegExp;
  /** Words that belong to the subject beside those of the section's own name. */
  readonly words: string;
};

/** Patterns of keys, apart by blanks, as one. */
const anyKey = (keys: string): RegExp => new RegExp(keys.trim().split(/\s+/).join('|'));

const rule = (intent: Intent, keys: string, words: string): Rule => ({
  intent,
  key: anyKey(keys),
  words,
});

/** The first whose pattern fits the key decides; the order puts the special before the general. */
const RULES: readonly Rule[] = [
  rule('question', `question open_ unresolved unknown decision`, 'unclear unknown decide whether'),
  rule('omission', `omission gap missing left_out not_covered uncovered`, 'missing lack without'),
  rule(
    'mitigation',
    `mitigat guardrail mock stand_in resilien escalat fallback safeguard control measures$`,
    'prevent avoid protect backup limit recover',
  ),
  rule(
    'reference',
    `reference _document$ ^sources$ data_sources signal_sources citation bibliograph artifacts`,
    '',
  ),
  rule('assumption', `assum premise`, 'assume given expect'),
  rule(
    'risk',
    `risk threat obstacle hazard likelihood danger signal impact failure`,
    'risk fail lose delay outage depend wrong',
  ),
  rule(
    'weakness',
    `weak error problems$ defect critic discrepan conflict improve concern objection contra`,
    'lack slow manual wrong difficult',
  ),
  rule('strength', `strength advantage merit pros?$`, 'strong clear proven already existing'),
  rule(
    'acceptance',
    `accept quality test check criteri verif guards?$ done`,
    'must test measure within show',
  ),
  rule('story', `stor(y|ies) journey scenario use_case`, 'user customer want can'),
  rule(
    'metric',
    `metric kpi indicator measure north_star target cadence report`,
    'number percent rate time count increase reduce',
  ),
  rule(
    'agreement',
    `align fit_ resolved consensus agree (^|_)positions? adjust insight feasib delta iteration`,
    'request require keep',
  ),
  rule(
    'tradeoff',
    `trade alternativ competit compar tie_break options?$ differentiat when_to prefer`,
    'instead either rather cost existing competitor',
  ),
  rule(
    'dependency',
    `depend deps integration interface requires prerequisite third_party api contracts`,
    'integrate connect import export sync service',
  ),
  rule(
    'sequence',
    `sequenc timeline schedul release order roadmap phase milestone migration`,
    'first then before after week month deadline launch',
  ),
  rule(
    'next',
    `next action recommend commit construction strategy todo ^source$
    (^|_)(work|steps?|tasks?)$`,
    'start decide first try agree',
  ),
  rule(
    'component',
    `component architect service stack platform tool librar subsystem module infrastruct
    technolog interface mapping`,
    'system service application database website app',
  ),
  rule(
    'data',
    `^data data$ schema data_flow column index(es)?$ storage record rls`,
    'data store record history list name address',
  ),
  rule(
    'operation',
    `deploy operat observ monitor support maintain environment devops hosting`,
    'run host monitor support maintain staff backup',
  ),
  rule('cost', `cost budget price pricing funding revenue`, 'cost budget price pay money month'),
  rule(
    'people',
    `team owner stakeholder communicat people role audience responsib`,
    'user customer staff team owner manager',
  ),
  rule(
    'quality',
    `secur privac complian perform scalab reliab maintainab accessib usab availab
    non_functional legal complexity`,
    '',
  ),
  rule(
    'opportunity',
    `opportun market benefit value differenti goal objective purpose outcome vision provides`,
    'want increase grow new customer sell save improve',
  ),
  rule(
    'problem',
    `problem pain need validation challenge background`,
    'today currently problem need waste manual lost complain',
  ),
  rule(
    'summary',
    `summary overview abstract introduction description rationale context note progress about
    analysis why`,
    '',
  ),
];

/** Words that the quality of that name goes by, for sections and for scores. */
export const QUALITY_WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /secur|privac/,
    'security secure privacy password encrypt access login attack personal consent gdpr',
  ],
  [/complian|legal/, 'compliance legal law gdpr consent audit regulation rule licence tax'],
  [
    /perform|speed|latency/,
    'performance fast seconds latency load response real-time within quick',
  ],
  [/scal/, 'scale scalability grow peak users load more traffic'],
  [/reliab|resilien|avail/, 'reliable failure offline outage retry backup available recover down'],
  [
    /maintain|complex|operat/,
    'maintain simple complexity update support existing standard manual staff',
  ],
  [/cost|budget/, 'cost budget price pay fee month euro dollar money'],
  [/time|market|deliver/, 'week month launch deadline first release deliver day'],
  [/feasib|effort/, 'existing integrate api possible build available access team'],
  [/usab|access|user/, 'user customer accessible language mobile phone easy help'],
  [
    /align|fit|constraint|complete|coverage/,
    'must require constraint request only budget deadline',
  ],
  [/risk|threat|weak/, 'risk fail lose delay depend wrong outage'],
  [/strength|opportun|value/, 'new increase save improve customer grow existing'],
];

/** What a key asks for, and the words to look for. */
export function findIntent(key: string): { readonly intent: Intent; readonly words: string } {
  const quality = QUALITY_WORDS.find(([pattern]) => pattern.test(key))?.[1] ?? '';
  const rule = RULES.find((one) => one.key.test(key));
  if (!rule) return { intent: 'scope', words: quality };
  return { intent: rule.intent, words: rule.intent === 'quality' ? quality : rule.words };
}

/** How the document as a whole treats what it is given. */
export type Mode = 'propose' | 'critique' | 'merge' | 'plan';

const MODES: readonly (readonly [RegExp, Mode])[] = [
  [/synthes|merg|consolidat|pairwise|combin|reconcil|unif/i, 'merge'],
  [/critiq|critic|review|challeng|judg|antithes|assess|objection|rebut/i, 'critique'],
  [/plan|milestone|checklist|roadmap|work item|schedul|task list|implement/i, 'plan'],
];

/** Reads the mode off what the document is called, else off what its stage is called. */
export function findMode(names: readonly string[], hasDocuments: boolean): Mode {
  if (!hasDocuments) return 'propose';
  for (const name of names) {
    for (const [pattern, mode] of MODES) if (pattern.test(name)) return mode;
  }
  return 'propose';
}
