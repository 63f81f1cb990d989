import type { Database } from '../db/database.ts';
import { elapsedMs } from '../platform/clock.ts';
import type { SessionView } from '../session/read.ts';
import { drawTree, expectSteps, type StepRow } from './progress-tree.ts';

/** Shows on stderr where a run stands: a tree that is redrawn, or lines where there is no screen. */
export class Progress {
  readonly #database: Database;
  readonly #session: SessionView;
  readonly #started = elapsedMs();
  readonly #screen = process.stderr.isTTY;
  readonly #expected: ReadonlyMap<string, number>;
  readonly #total: number;
  /** What an earlier process did says nothing about how fast this one is. */
  #doneBefore: number | undefined;
  #drawn = 0;
  #last = '';

  constructor(database: Database, session: SessionView) {
    this.#database = database;
    this.#session = session;
    this.#expected = expectSteps(session);
    this.#total = [...this.#expected.values()].reduce((sum, calls) => sum + calls, 0);
  }

  async draw(): Promise<void> {
    const { rows, tokens } = await this.#read();
    const done = rows.reduce((sum, row) => sum + row.done, 0);
    const seconds = (elapsedMs() - this.#started) / 1000;
    this.#doneBefore ??= done;
    const own = done - this.#doneBefore;
    const left = own > 2 ? ((this.#total - done) * seconds) / own : null;
    const head =
      `${done} of about ${this.#total} calls · ${tokens.toLocaleString('en')} tokens · ` +
      `${seconds.toFixed(0)} s${left === null ? '' : `, about ${left.toFixed(0)} s left`}`;
    const lines = this.#screen
      ? [...drawTree(this.#session, rows, this.#expected), head]
      : [this.#summary(rows, head)];
    this.#print(lines);
  }

  #summary(rows: readonly StepRow[], head: string): string {
    const stage = rows.at(-1)?.stage ?? 'starting';
    return `${stage}: ${head}`;
  }

  #print(lines: readonly string[]): void {
    const text = lines.join('\n');
    if (this.#screen) {
      const back = this.#drawn > 0 ? `\u001b[${this.#drawn}A\u001b[J` : '';
      process.stderr.write(`${back}${text}\n`);
      this.#drawn = lines.length;
    } else if (text.split(':')[0] !== this.#last) {
      this.#last = text.split(':')[0]!;
      process.stderr.write(`${text}\n`);
    }
  }

  async #read(): Promise<{ rows: StepRow[]; tokens: number }> {
    const { tenantId, id } = this.#session;
    return this.#database.asTenant(tenantId, async (tx) => {
      const rows = await tx.query<StepRow>(
        `select r.stage_key as stage, j.step_key as step, l.ordinal as lane,
           count(*) filter (where j.status = 'completed' and not j.continued) as done,
           count(*) filter (where not is_over(j.status)) as running,
           count(*) filter (where j.status in ('failed', 'cancelled')) as failed
         from jobs j join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
         join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
         where j.tenant_id = $1 and j.session_id = $2 and j.job_type = 'EXECUTE'
         group by r.stage_key, j.step_key, l.ordinal, r.created_at
         order by r.created_at, min(j.seq)`,
        [tenantId, id],
      );
      const [usage] = await tx.query<{ tokens: number }>(
        `select coalesce(sum(input_tokens + output_tokens), 0)::int8 as tokens
         from model_calls where tenant_id = $1 and session_id = $2`,
        [tenantId, id],
      );
      return { rows, tokens: usage!.tokens };
    });
  }
}
