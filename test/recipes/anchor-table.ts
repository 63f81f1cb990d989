/** What becomes of a document's lineage. */
type Lineage =
  /** It starts one. */
  | 'new'
  /** That of the document which is the anchor. */
  | 'anchor'
  /** That of its required inputs where they share one; else it starts one. */
  | 'shared';

export type AnchorRow = readonly [
  stage: string,
  step: string,
  status: 'no_anchor_required' | 'anchor_found' | 'derive_from_header_context',
  /** `stage/document_key` of the document that the planner took the anchor from. */
  reference: string | null,
  lineage: Lineage,
  /** Whether the document is its own anchor within its stage. */
  own: boolean,
];

const PROPOSAL = ['business_case', 'feature_spec', 'technical_approach', 'success_metrics'];

/** `step`: anchor from the document that the step reads with the highest relevance. */
const transform = (stage: string, steps: Readonly<Record<string, string>>): AnchorRow[] =>
  Object.entries(steps).map(([step, reference]) => [
    stage,
    step,
    'anchor_found',
    reference,
    'anchor',
    false,
  ]);

/** One row for each of the 33 steps of software-plan: which anchor, which lineage. */
export const ANCHOR_TABLE: readonly AnchorRow[] = [
  ['thesis', 'thesis_build_stage_header', 'no_anchor_required', null, 'new', true],
  ...PROPOSAL.map((key): AnchorRow => {
    const header = 'thesis/header_context';
    return [
      'thesis',
      `thesis_generate_${key}`,
      'derive_from_header_context',
      header,
      'anchor',
      false,
    ];
  }),
  // The planner's find gives the review plan its lineage only; it is its own anchor.
  [
    'antithesis',
    'antithesis_prepare_proposal_review_plan',
    'anchor_found',
    'thesis/business_case',
    'anchor',
    true,
  ],
  ...transform('antithesis', {
    antithesis_generate_business_case_critique: 'thesis/business_case',
    antithesis_generate_technical_feasibility_assessment: 'thesis/feature_spec',
    antithesis_generate_risk_register: 'thesis/success_metrics',
    antithesis_generate_non_functional_requirements: 'thesis/technical_approach',
    antithesis_generate_dependency_map: 'thesis/technical_approach',
    antithesis_generate_comparison_vector: 'thesis/feature_spec',
  }),
  ['synthesis', 'synthesis_prepare_pairwise_header', 'no_anchor_required', null, 'shared', true],
  ...PROPOSAL.flatMap((key): AnchorRow[] => [
    ...transform('synthesis', { [`synthesis_pairwise_${key}`]: `thesis/${key}` }),
    ['synthesis', `synthesis_document_${key}`, 'no_anchor_required', null, 'new', true],
  ]),
  ['synthesis', 'generate_final_synthesis_header', 'no_anchor_required', null, 'shared', true],
  ...transform('synthesis', {
    product_requirements: 'synthesis/header_context',
    system_architecture: 'synthesis/header_context',
    tech_stack: 'synthesis/header_context',
  }),
  ['parenthesis', 'build-planning-header', 'no_anchor_required', null, 'shared', true],
  ...transform('parenthesis', {
    'generate-technical_requirements': 'synthesis/system_architecture',
    'generate-master-plan': 'parenthesis/technical_requirements',
    'generate-milestone-schema': 'synthesis/system_architecture',
  }),
  ['paralysis', 'build-implementation-header', 'no_anchor_required', null, 'shared', true],
  ...transform('paralysis', {
    'generate-actionable-checklist': 'parenthesis/technical_requirements',
    'generate-updated-master-plan': 'parenthesis/master_plan',
    'generate-advisor-recommendations': 'synthesis/product_requirements',
  }),
];
