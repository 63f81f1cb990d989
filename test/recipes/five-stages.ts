import type { Process, Stage, Step } from '../../src/recipe/types.ts';
import { processOf, stage, step } from './build.ts';

const THESIS_KEYS = ['business_case', 'feature_spec', 'technical_approach', 'success_metrics'];
const HEADER = 'header_context';

const execute = (key: string, documentKey: string, inputs: readonly string[], forEach = HEADER) =>
  step(key, 'EXECUTE', 'per_source_document', documentKey, inputs, { forEach });

function thesis(): Stage {
  return stage('thesis', [
    step('thesis_build_stage_header', 'PLAN', 'all_to_one', HEADER, ['seed:thesis/']),
    ...THESIS_KEYS.map((key) =>
      execute(`thesis_generate_${key}`, key, [`header:thesis/${HEADER}`]),
    ),
  ]);
}

const fromThesis = (weights: readonly number[]): string[] => [
  ...THESIS_KEYS.map((key, at) => `doc:thesis/${key}=${weights[at]}@all`),
  ...THESIS_KEYS.map((key) => `fb:thesis/${key}?=0.5@all`),
];

/** Weights in the order of THESIS_KEYS. */
const CRITIQUES: Readonly<Record<string, readonly number[]>> = {
  business_case_critique: [0.95, 0.85, 0.75, 0.65],
  technical_feasibility_assessment: [0.7, 0.9, 0.85, 0.6],
  risk_register: [0.65, 0.75, 0.8, 0.9],
  non_functional_requirements: [0.6, 0.7, 0.9, 0.8],
  dependency_map: [0.75, 0.85, 0.9, 0.65],
  comparison_vector: [0.85, 0.95, 0.9, 0.8],
};

function antithesis(): Stage {
  return stage('antithesis', [
    step('antithesis_prepare_review', 'PLAN', 'per_source_document_by_lineage', HEADER, [
      'seed:antithesis/',
      ...fromThesis([1, 0.9, 0.85, 0.8]),
    ]),
    ...Object.entries(CRITIQUES).map(([key, weights]) =>
      execute(`antithesis_generate_${key}`, key, [
        `header:antithesis/${HEADER}`,
        ...fromThesis(weights),
      ]),
    ),
  ]);
}

const PAIRS: Readonly<Record<string, readonly string[]>> = {
  business_case: ['business_case_critique=0.95', 'comparison_vector=0.9'],
  feature_spec: [
    'technical_feasibility_assessment=0.95',
    'non_functional_requirements=0.9',
    'comparison_vector=0.85',
  ],
  technical_approach: ['risk_register=0.95', 'dependency_map=0.9'],
  success_metrics: ['business_case_critique=0.9', 'comparison_vector=0.85'],
};

const pairwise = ([key, answers]: [string, readonly string[]]): Step =>
  step(
    `synthesis_pairwise_${key}`,
    'EXECUTE',
    'pairwise_by_origin',
    `synthesis_pairwise_${key}`,
    [
      'header:synthesis/header_context_pairwise',
      `doc:thesis/${key}=1@all`,
      ...answers.map((answer) => `contrib:antithesis/${answer}@all`),
      `fb:antithesis/${answers[0]!.split('=')[0]}?=0.8@all`,
    ],
    { forEach: key },
  );

function synthesis(): Stage {
  const merged = THESIS_KEYS.map((key) => `synthesis_document_${key}`);
  const final = (key: string, weights: readonly number[]): Step =>
    step(key, 'EXECUTE', 'all_to_one', key, [
      `header:synthesis/${HEADER}`,
      ...merged.map((one, at) => `contrib:synthesis/${one}*=${weights[at]}`),
    ]);
  return stage('synthesis', [
    step('synthesis_prepare_pairwise_header', 'PLAN', 'all_to_one', 'header_context_pairwise', [
      'seed:synthesis/',
      ...THESIS_KEYS.map((key) => `doc:thesis/${key}*@all`),
      ...Object.keys(CRITIQUES).map((key) => `doc:antithesis/${key}*@all`),
    ]),
    ...Object.entries(PAIRS).map(pairwise),
    ...THESIS_KEYS.map((key, at) =>
      step(merged[at]!, 'EXECUTE', 'per_model', merged[at]!, [
        `contrib:synthesis/synthesis_pairwise_${key}*`,
      ]),
    ),
    step('generate_final_synthesis_header', 'PLAN', 'all_to_one', HEADER, [
      'seed:synthesis/',
      ...merged.map((key) => `contrib:synthesis/${key}*`),
    ]),
    final('product_requirements', [1, 0.9, 0.85, 0.8]),
    final('system_architecture', [0.82, 0.9, 1, 0.78]),
    final('tech_stack', [0.8, 0.88, 1, 0.85]),
  ]);
}

const own = (key: string) => [
  `doc:parenthesis/${key}?=0.99@previous`,
  `fb:parenthesis/${key}?=0.85@previous`,
];

function parenthesis(): Stage {
  const header = `header:parenthesis/${HEADER}`;
  return stage('parenthesis', [
    step('build-planning-header', 'PLAN', 'all_to_one', HEADER, [
      'seed:parenthesis/',
      'doc:synthesis/product_requirements=1',
      'doc:synthesis/system_architecture=0.95',
      'doc:synthesis/tech_stack=0.9',
      'fb:synthesis/product_requirements?=0.75',
      ...own('master_plan'),
    ]),
    execute('generate-technical_requirements', 'technical_requirements', [
      header,
      'doc:synthesis/system_architecture=0.95',
      'doc:synthesis/tech_stack=0.9',
      'doc:synthesis/product_requirements=0.85',
      ...own('technical_requirements'),
    ]),
    execute('generate-master-plan', 'master_plan', [
      header,
      'doc:parenthesis/technical_requirements=0.95',
      'doc:synthesis/product_requirements=0.75',
      ...own('master_plan'),
    ]),
    execute('generate-milestone-schema', 'milestone_schema', [
      header,
      'doc:parenthesis/master_plan=0.9',
      'doc:synthesis/system_architecture=0.92',
      'doc:parenthesis/technical_requirements=0.88',
      ...own('milestone_schema'),
    ]),
  ]);
}

function paralysis(): Stage {
  const header = `header:paralysis/${HEADER}`;
  return stage('paralysis', [
    step('build-implementation-header', 'PLAN', 'all_to_one', HEADER, [
      'seed:paralysis/',
      'doc:parenthesis/technical_requirements=1',
      'doc:parenthesis/master_plan=0.98',
      'doc:parenthesis/milestone_schema=0.95',
      'doc:paralysis/updated_master_plan?=0.9@previous',
    ]),
    execute('generate-actionable-checklist', 'actionable_checklist', [
      header,
      'doc:parenthesis/technical_requirements=0.95',
      'doc:parenthesis/master_plan=0.93',
      'doc:parenthesis/milestone_schema=0.9',
    ]),
    execute('generate-updated-master-plan', 'updated_master_plan', [
      header,
      'doc:parenthesis/master_plan=0.95',
      'doc:parenthesis/milestone_schema=0.9',
      'doc:paralysis/actionable_checklist=0.92',
    ]),
    execute('generate-advisor-recommendations', 'advisor_recommendations', [
      header,
      'doc:synthesis/product_requirements=0.95',
      'doc:paralysis/updated_master_plan*=0.93@all,join',
    ]),
  ]);
}

/** The structure of the shipped process: 33 steps, with placeholder prompts and contracts. */
export function fiveStages(): Process {
  return processOf('five-stages', [
    thesis(),
    antithesis(),
    synthesis(),
    parenthesis(),
    paralysis(),
  ]);
}
