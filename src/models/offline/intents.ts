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

/** The first whose pattern fits the key decides; the order puts the special before the general. */
const RULES: readonly Rule[] = [
  {
    intent: 'question',
    key: /question|open_|unresolved|unknown|decision/,
    words: 'unclear unknown decide whether',
  },
  {
    intent: 'omission',
    key: /omission|gap|missing|left_out|not_covered|uncovered/,
    words: 'missing lack without',
  },
  {
    intent: 'mitigation',
    key: /mitigat|guardrail|resilien|escalat|fallback|safeguard|control|measures$/,
    words: 'prevent avoid protect backup limit recover',
  },
  {
    intent: 'reference',
    key: /reference|_document$|^sources?$|data_sources|signal_sources|citation|bibliograph|artifacts/,
    words: '',
  },
  { intent: 'assumption', key: /assum|premise/, words: 'assume given expect' },
  {
    intent: 'risk',
    key: /risk|threat|obstacle|hazard|likelihood|danger|signal|impact|failure/,
    words: 'risk fail lose delay outage depend wrong',
  },
  {
    intent: 'weakness',
    key: /weak|error|problems?$|defect|critic|discrepan|conflict|improve|concern|objection|contra/,
    words: 'lack slow manual wrong difficult',
  },
  {
    intent: 'strength',
    key: /strength|advantage|merit|pros?$/,
    words: 'strong clear proven already existing',
  },
  {
    intent: 'acceptance',
    key: /accept|test|check|criteri|verif|guards?$|done/,
    words: 'must test measure within show',
  },
  {
    intent: 'story',
    key: /stor(y|ies)|journey|scenario|use_case/,
    words: 'user customer want can',
  },
  {
    intent: 'metric',
    key: /metric|kpi|indicator|measure|north_star|target|cadence|report/,
    words: 'number percent rate time count increase reduce',
  },
  {
    intent: 'agreement',
    key: /align|fit_|resolved|consensus|agree|position|adjust|insight|feasib|delta|iteration/,
    words: 'request require agree keep',
  },
  {
    intent: 'tradeoff',
    key: /trade|alternativ|competit|compar|tie_break|options?$|differentiat|when_to|prefer/,
    words: 'instead either rather cost existing competitor',
  },
  {
    intent: 'dependency',
    key: /depend|deps|integration|interface|requires|prerequisite|third_party|api|contracts/,
    words: 'integrate connect import export sync service',
  },
  {
    intent: 'sequence',
    key: /sequenc|timeline|schedul|release|order|roadmap|phase|milestone|migration/,
    words: 'first then before after week month deadline launch',
  },
  {
    intent: 'next',
    key: /next|action|recommend|up_next|commit|construction|strategy|todo/,
    words: 'start decide first try agree',
  },
  {
    intent: 'component',
    key: /component|architect|service|stack|platform|tool|librar|subsystem|module|infrastruct|technolog|interface|mapping/,
    words: 'system service application database website app',
  },
  {
    intent: 'data',
    key: /^data|data$|schema|data_flow|column|index(es)?$|storage|record|rls/,
    words: 'data store record history list name address',
  },
  {
    intent: 'operation',
    key: /deploy|operat|observ|monitor|support|maintain|environment|devops|hosting/,
    words: 'run host monitor support maintain staff backup',
  },
  {
    intent: 'cost',
    key: /cost|budget|price|pricing|funding|revenue/,
    words: 'cost budget price pay money month',
  },
  {
    intent: 'people',
    key: /team|owner|stakeholder|communicat|people|role|audience|responsib/,
    words: 'user customer staff team owner manager',
  },
  {
    intent: 'quality',
    key: /secur|privac|complian|perform|scalab|reliab|maintainab|accessib|usab|availab|quality|non_functional|legal|complexity/,
    words: '',
  },
  {
    intent: 'opportunity',
    key: /opportun|market|benefit|value|differenti|goal|objective|purpose|outcome|vision|provides/,
    words: 'want increase grow new customer sell save improve',
  },
  {
    intent: 'problem',
    key: /problem|pain|need|validation|challenge|background/,
    words: 'today currently problem need waste manual lost complain',
  },
  {
    intent: 'summary',
    key: /summary|overview|abstract|introduction|description|rationale|context|note|progress|about|analysis|why/,
    words: '',
  },
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
