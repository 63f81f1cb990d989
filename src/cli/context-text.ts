import type { JobContext } from '../api/show-context.ts';
import { shortId } from '../session/name-document.ts';
import { countNoun } from '../text/count-noun.ts';
import { align } from './estimate-text.ts';

/** One job in full, several in a line each. */
export function describeContexts(plans: readonly JobContext[]): string[] {
  const [first, ...others] = plans;
  if (!first) return ['No job waits. Name a document: dialectic show --context DOCUMENT'];
  if (others.length === 0) return describeContext(first);
  const rows = plans.map((plan) => [shortId(plan.job), nameOf(plan), plan.status, sum(plan)]);
  return [
    ...align([['job', 'document', 'status', 'tokens'], ...rows]),
    'Show one with: dialectic show --context JOB',
  ];
}

const nameOf = ({ stage, document, lane }: JobContext): string => `${stage}/${document}@${lane}`;

/** What the request has, what it may have, and what that means. */
function sum({ tokens, room, after, fits, portions }: JobContext): string {
  if (room === null) return `${figure(tokens)}; the window is unknown`;
  const of = `${figure(tokens)} of ${figure(room)}`;
  if (fits === 'whole') return `${of}: fits`;
  if (fits === 'shortened') return `${of}: shortened to about ${figure(after)}`;
  if (fits === 'reduced') {
    const form = portions
      ? `${countNoun(portions.length, 'portion')} at first`
      : 'the end of the answer so far';
    return `${of}: sent in a smaller form (${form}), about ${figure(after)}`;
  }
  return `${of}: does not fit, ${figure(after)} are left at least`;
}

function describeContext(plan: JobContext): string[] {
  const { model, window, embedding, parts } = plan;
  const size = window.windowTokens === null ? 'unknown' : `${figure(window.windowTokens)} tokens`;
  const rows = parts.map(({ label, tokens, order, value, after }) => [
    label,
    figure(tokens),
    order === null ? 'never' : String(order),
    value === null ? '' : value.toFixed(2),
    after < tokens ? figure(after) : 'whole',
  ]);
  return [
    `${nameOf(plan)} · ${plan.status} · ${model} · window ${size}`,
    `Request: ${sum(plan)} (tokens are ${describeCounting(plan)})`,
    '',
    ...align([['part', 'tokens', 'shortened', 'value', 'sent'], ...rows]),
    '',
    ...(plan.fits === 'whole' ? ['Nothing is shortened.'] : describeShortening(plan)),
    ...(embedding.texts > 0
      ? [
          `To be embedded by ${embedding.model}: ${countNoun(embedding.texts, 'text')}, ${countNoun(embedding.tokens, 'token')}, $${embedding.costUsd}.`,
        ]
      : []),
  ];
}

function describeCounting({ counting: { method, errorShare, calls } }: JobContext): string {
  const error = `${Math.round(errorShare * 100)} %`;
  if (method === 'exact') return `counted by the model's tokenizer, within ${error}`;
  if (method === 'learned')
    return `learned from ${countNoun(calls, 'call')}, at most ${error} too many`;
  return `estimated, at most ${error} too many`;
}

function describeShortening({ fits, parts, portions = [] }: JobContext): string[] {
  const fixed = parts.filter(({ order }) => order === null);
  const tokens = fixed.reduce((all, part) => all + part.tokens, 0);
  return [
    'What is worth least is shortened first, one part after the other, until the rest fits.',
    'Values are by words here; where an embedding model is installed, the run ranks by meaning.',
    ...(fits === 'reduced' && portions.length > 0
      ? [`It asks for ${portions.join(', ')}; the rest is asked for afterwards.`]
      : []),
    ...(fits === 'never'
      ? [
          `What is never shortened takes ${figure(tokens)} tokens, so the call would be refused`,
          '(context_window_exceeded). Take a model with a larger window.',
        ]
      : []),
  ];
}

const figure = (value: number): string => value.toLocaleString('en');
