import type { Transaction } from '../db/database.ts';
import { constructPath, type Work } from '../documents/paths.ts';
import type { StoredRequest } from '../documents/request-parts.ts';
import { readRequests } from '../documents/requests.ts';
import { withoutControls } from '../text/clean-text.ts';
import { fenceText } from '../text/fence-text.ts';
import { makeInert } from '../text/safe-markdown.ts';
import type { SessionView } from './read.ts';

type CallRow = {
  readonly id: string;
  readonly chain_id: string;
  /** The whole request of a call of an earlier release, as JSON. */
  readonly stored: string | null;
  readonly answer: string;
  readonly finish: string;
  readonly model: string;
  /** Null for a cancelled call whose hold was settled before its answer was saved. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly usage_estimated: boolean;
  readonly cost: number | null;
  /** What was left out of documents for the prompt to fit: label, tokens before and after. */
  readonly shortened: readonly unknown[];
};

type Call = CallRow & { readonly request: StoredRequest };

/** Every answered call of a session by the chain that it belongs to, in order. */
export async function readCalls(tx: Transaction, session: SessionView) {
  const rows = await tx.query<CallRow>(
    `select m.id, c.chain_id, p.body as stored, a.body as answer, m.finish_reason as finish, m.model,
       m.input_tokens, m.output_tokens, m.cached_input_tokens, m.usage_estimated, m.shortened,
       (case m.origin when 'recording' then m.recorded_cost_micros else m.cost_micros end)::float8
         as cost
     from model_calls m
     join contributions c on c.tenant_id = m.tenant_id and c.id = m.contribution_id
     join blobs a on a.tenant_id = c.tenant_id and a.hash = c.blob_hash
     left join blobs p on p.tenant_id = m.tenant_id and p.hash = m.request_hash
     where m.session_id = $1 order by c.ordinal`,
    [session.id],
  );
  const requests = await readRequests(tx, session.id);
  const calls = rows.map((row): Call => ({ ...row, request: requestOf(row, requests) }));
  return Map.groupBy(calls, (row) => row.chain_id);
}

const requestOf = (
  { id, stored }: CallRow,
  requests: ReadonlyMap<string, StoredRequest>,
): StoredRequest => {
  if (stored !== null) return JSON.parse(stored) as StoredRequest;
  return requests.get(id) ?? { system: '', messages: [] };
};

/**
 * The prompt and the answer of every call that went into a document, as they were. `about` are the
 * numbers of the lanes whose work it responds to.
 */
export function addCalls(
  files: Map<string, string>,
  calls: readonly Call[],
  work: Work,
  about: readonly number[],
): void {
  for (const [index, call] of calls.entries()) {
    const continuation = index === 0 ? null : index;
    files.set(constructPath({ kind: 'prompt', continuation, ...work }), formatPrompt(call.request));
    const answer = {
      model: call.model,
      ...(about.length > 0 && { about }),
      finish: call.finish,
      ...(call.shortened.length > 0 && { shortened: call.shortened }),
      ...(call.input_tokens !== null && {
        usage: {
          inputTokens: call.input_tokens,
          outputTokens: call.output_tokens ?? 0,
          cachedInputTokens: call.cached_input_tokens ?? 0,
          estimated: call.usage_estimated,
        },
      }),
      costUsd: call.cost === null ? null : call.cost / 1e6,
      text: call.answer,
    };
    const raw = `${JSON.stringify(answer, null, 2)}\n`;
    files.set(constructPath({ kind: 'raw_response', continuation, ...work }), raw);
  }
}

function formatPrompt({ system, messages }: StoredRequest): string {
  const turns = messages.map(({ role, content }) => `<!-- ${role} -->\n\n${showAsIs(content)}`);
  return `<!-- system -->\n\n${showAsIs(system)}\n\n${turns.join('\n\n')}\n`;
}

/** The lines that prompts put around what they show; nothing acts on them. */
const OWN_TAG =
  /^<\/?(?:document|feedback|user_request)(?: (?:label|stage|document_key|title)="[^"<>]*")*>$/gm;

/**
 * A prompt word for word. Where a viewer would act on what a brief or a model wrote into it, it
 * stands in a fence that is longer than any of its own.
 */
export function showAsIs(text: string): string {
  const plain = withoutControls(text.replaceAll('\r\n', '\n'));
  const foreign = plain.replace(OWN_TAG, '');
  if (makeInert(foreign) === foreign) return plain;
  return fenceText(plain);
}
