import type { Transaction } from '../db/transaction.ts';
import type { FileContent } from '../documents/owned-folder.ts';
import { constructPath, type Work } from '../documents/paths.ts';
import type { StoredRequest } from '../documents/request-parts.ts';
import { readRequests } from '../documents/requests.ts';
import { DialecticError } from '../errors/errors.ts';
import { withoutControls } from '../text/clean-text.ts';
import { fenceText } from '../text/fence-text.ts';
import { makeInert } from '../text/safe-markdown.ts';
import type { SessionView } from './read.ts';

type CallRow = {
  readonly id: string;
  readonly chain_id: string;
  readonly answer_hash: string;
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

/** Whether the folder has the file with this text, so that it need not be read. */
export type IsWritten = (path: string, key: string) => boolean;

/** What was asked and answered in a call. */
type CallTexts = { readonly request: StoredRequest; readonly answer: string };

/** Every answered call of a session by the chain that it belongs to, in order, without its texts. */
export async function readCalls(tx: Transaction, session: SessionView) {
  const rows = await tx.query<CallRow>(
    `select m.id, c.chain_id, c.blob_hash as answer_hash, m.finish_reason as finish, m.model,
       m.input_tokens, m.output_tokens, m.cached_input_tokens, m.usage_estimated, m.shortened,
       (case m.origin when 'recording' then m.recorded_cost_micros else m.cost_micros end)::float8
         as cost
     from model_calls m
     join contributions c on c.tenant_id = m.tenant_id and c.id = m.contribution_id
     where m.session_id = $1 order by c.ordinal`,
    [session.id],
  );
  return Map.groupBy(rows, (row) => row.chain_id);
}

/** Reads prompts and answers of calls. */
async function readTexts(
  tx: Transaction,
  sessionId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CallTexts>> {
  if (ids.length === 0) return new Map();
  // `stored` is the whole request of a call of an earlier release, as JSON.
  const rows = await tx.query<{ id: string; answer: string; stored: string | null }>(
    `select m.id, a.body as answer, p.body as stored from model_calls m
     join contributions c on c.tenant_id = m.tenant_id and c.id = m.contribution_id
     join blobs a on a.tenant_id = c.tenant_id and a.hash = c.blob_hash
     left join blobs p on p.tenant_id = m.tenant_id and p.hash = m.request_hash
     where m.session_id = $1 and m.id = any ($2)`,
    [sessionId, ids],
  );
  const requests = await readRequests(tx, sessionId, ids);
  return new Map(
    rows.map(({ id, answer, stored }) => {
      const parts = requests.get(id) ?? { system: '', messages: [] };
      const request = stored === null ? parts : (JSON.parse(stored) as StoredRequest);
      return [id, { request, answer }];
    }),
  );
}

/** The files of the calls of a session; their texts are read at the end, all at once. */
export class CallFiles {
  readonly #files: Map<string, FileContent>;
  readonly #isWritten: IsWritten;
  readonly #lacking = new Set<string>();
  #texts: ReadonlyMap<string, CallTexts> = new Map();

  constructor(files: Map<string, FileContent>, isWritten: IsWritten) {
    this.#files = files;
    this.#isWritten = isWritten;
  }

  /**
   * Adds the prompt and the answer of every call that went into a document, as they were. `about` are
   * the numbers of the lanes whose work it responds to.
   */
  add(calls: readonly CallRow[], work: Work, about: readonly number[]): void {
    for (const [index, call] of calls.entries()) {
      const continuation = index === 0 ? null : index;
      const { id } = call;
      // A request never changes.
      this.#set(constructPath({ kind: 'prompt', continuation, ...work }), id, `prompt/${id}`, () =>
        formatPrompt(this.#textsOf(id).request),
      );
      const facts = describeAnswer(call, about);
      const key = `answer/${call.answer_hash}/${JSON.stringify(facts)}`;
      this.#set(constructPath({ kind: 'raw_response', continuation, ...work }), id, key, () => {
        const whole = { ...facts, text: this.#textsOf(id).answer };
        return `${JSON.stringify(whole, null, 2)}\n`;
      });
    }
  }

  async read(tx: Transaction, sessionId: string): Promise<void> {
    this.#texts = await readTexts(tx, sessionId, [...this.#lacking]);
  }

  #set(path: string, call: string, key: string, make: () => string): void {
    const isWritten = this.#isWritten(path, key);
    if (!isWritten) this.#lacking.add(call);
    this.#files.set(path, { key, make: isWritten ? null : make });
  }

  #textsOf(call: string): CallTexts {
    const texts = this.#texts.get(call);
    if (!texts)
      throw new DialecticError('internal_error', `The texts of call ${call} are not read.`);
    return texts;
  }
}

/** The model's answer without its text. */
const describeAnswer = (call: CallRow, about: readonly number[]) => ({
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
});

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
