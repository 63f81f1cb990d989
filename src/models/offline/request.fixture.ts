import type { JsonSchema, ModelRequest } from '../types.ts';

/** A brief with tasks, limits, circumstances, a figure of every kind and two systems. */
export const BRIEF = `# Loans for a tool library, run by volunteers

Our club has 180 members and 420 tools. Today loans are written into a paper book, and about 9
tools a month are not found again.

Members must be able to reserve a tool on the website, which runs on WordPress. Volunteers should
hand out a tool within two minutes at the counter. The deposit is taken by card through Stripe, and
members can see when it is paid back. A reminder must be sent three days before a loan ends.
Damaged tools must never be lent again before someone has checked them.

The budget is 4,000 euros. Personal data stays in the EU, as the law requires. Later we may add
tools of neighbouring clubs.`;

type Part = {
  readonly key: string;
  readonly label: string;
  readonly stage?: string;
  readonly tag?: string;
  readonly text: string;
};

const user = (content: string) => ({ role: 'user' as const, content });

/** A request as prompt assembly lays it out: the brief, data blocks, the current prompt. */
export function buildRequest(
  deliverable: string,
  schema: JsonSchema | undefined,
  options: {
    readonly model?: string;
    readonly brief?: string;
    readonly sources?: string;
    readonly parts?: readonly Part[];
    readonly prompt?: string;
  } = {},
): ModelRequest {
  const { model = 'offline/builder', brief = BRIEF, sources, parts = [], prompt = '' } = options;
  const blocks = parts.map(
    ({ key, label, stage = 'thesis', tag = 'document', text }) =>
      `<${tag} label="${label}" stage="${stage}" document_key="${key}">\n${text}\n</${tag}>`,
  );
  return {
    model,
    system: 'Cite as in [S7.e7].',
    messages: [
      user(`<user_request>\n${brief}\n</user_request>`),
      ...(sources === undefined ? [] : [user(`<sources>\n${sources}\n</sources>`)]),
      ...(blocks.length > 0 ? [user(blocks.join('\n\n'))] : []),
      user(`Write the document.\n\n${prompt}\n\nDeliverable: ${deliverable}`),
    ],
    ...(schema ? { schema: { name: deliverable.replace('/', '__'), schema } } : {}),
  };
}

export const text = { type: 'string' } as const;
export const texts = { type: 'array', items: text } as const;

/** A contract of the given sections, all required. */
export const contract = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  title: 'Document',
  properties,
  required: Object.keys(properties),
});
