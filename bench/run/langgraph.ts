import { ask, readPlan, readTask, tell } from './ask.ts';

// The same calls as a LangGraph.js graph: a node and a channel for each call, edges from the calls
// that it needs, and the state checkpointed to PostgreSQL after every step of the graph. As it comes,
// the library writes while the next step runs already, so that a crash may lose answers that were
// paid for; with `sync` it writes before, which is what this engine does.

type Graph = {
  addNode(name: string, run: (state: unknown) => Promise<object>): void;
  addEdge(from: string | string[], to: string): void;
  compile(options: object): {
    invoke(input: object, config: object): Promise<Record<string, string>>;
  };
};
type LangGraph = {
  StateGraph: new (annotation: unknown) => Graph;
  Annotation: (() => unknown) & { Root(fields: Record<string, unknown>): unknown };
  START: string;
};
type Saver = { setup(): Promise<void>; end(): Promise<void> };
type Checkpoints = { PostgresSaver: { fromConnString(url: string): Saver } };

// Named by a variable: the libraries are installed for benchmarks alone.
const [graphs, savers]: string[] = [
  '@langchain/langgraph',
  '@langchain/langgraph-checkpoint-postgres',
];
const { StateGraph, Annotation, START } = (await import(graphs!)) as LangGraph;
const { PostgresSaver } = (await import(savers!)) as Checkpoints;
const task = readTask();
const plan = readPlan(task);
const saver = PostgresSaver.fromConnString(task.databaseUrl);
await saver.setup();

// Short names: those of all the calls that a call needs stand in the key of a row.
const numbers = new Map(plan.map(({ id }, at) => [id, at]));
const channelOf = (id: string): string => `c${numbers.get(id)}`;
const nodeOf = (id: string): string => `n${numbers.get(id)}`;
const graph = new StateGraph(
  Annotation.Root(Object.fromEntries(plan.map(({ id }) => [channelOf(id), Annotation()]))),
);
for (const call of plan) {
  graph.addNode(nodeOf(call.id), async () => ({
    [channelOf(call.id)]: await ask(task.serverUrl, call),
  }));
}
for (const { id, needs } of plan) {
  const before = needs.map(nodeOf);
  graph.addEdge(before.length === 0 ? START : before, nodeOf(id));
}
const compiled = graph.compile({ checkpointer: saver });
const started = performance.now();
const state = await compiled.invoke(
  {},
  {
    configurable: { thread_id: String(process.pid) },
    maxConcurrency: task.slots,
    recursionLimit: 1_000,
    durability: task.durability,
  },
);
const wallMs = performance.now() - started;
const calls = plan.filter(({ id }) => state[channelOf(id)] !== undefined).length;
if (calls !== plan.length) throw new Error(`${calls} of ${plan.length} calls were made.`);
await saver.end();
tell({ wallMs, calls });
