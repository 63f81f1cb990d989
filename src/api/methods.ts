import type { Dialectic } from './dialectic.ts';

type Wallet = Dialectic['wallet'];
type Sources = Dialectic['sources'];

/** What a transport carries: all but the closing, which concerns the caller's own end. */
type Functions = Omit<Dialectic, MethodGroup | 'close' | typeof Symbol.asyncDispose> & {
  readonly [Name in keyof Wallet as `wallet.${Name}`]: Wallet[Name];
} & { readonly [Name in keyof Sources as `sources.${Name}`]: Sources[Name] };

/** The parts of the API whose methods have the name of the part before their own. */
export const METHOD_GROUPS = ['sources', 'wallet'] as const;
type MethodGroup = (typeof METHOD_GROUPS)[number];

/** Every method of the API by its name; those of a group as `wallet.grant`. */
export type MethodName = keyof Functions;

/** What a transport must know about a method; the types compute it from the method itself. */
type Entry<Method> = Method extends (...args: infer Parameters) => infer Result
  ? {
      /** `follow`: a stream of a session's events, which can go on after a cursor. */
      readonly kind: Result extends AsyncGenerator
        ? 'after' extends OptionNames<SecondOf<Parameters>>
          ? 'follow'
          : 'stream'
        : 'call';
      /** Which parameter holds the options with the caller's AbortSignal; null = none. */
      readonly signalAt: 'signal' extends OptionNames<FirstOf<Parameters>>
        ? 0
        : 'signal' extends OptionNames<SecondOf<Parameters>>
          ? 1
          : null;
    }
  : never;

type FirstOf<Parameters extends readonly unknown[]> =
  Required<Parameters> extends readonly [infer First, ...unknown[]] ? First : object;
type SecondOf<Parameters extends readonly unknown[]> =
  Required<Parameters> extends readonly [unknown, infer Second, ...unknown[]] ? Second : object;
type OptionNames<Parameter> = keyof NonNullable<Parameter>;

const CALL = { kind: 'call', signalAt: null } as const;
const FOLLOW = { kind: 'follow', signalAt: 1 } as const;

/**
 * The methods that can be called from outside of the process. A method of `Dialectic` that is missing
 * here, or is entered as what it is not, does not compile. New paths in arguments must be made
 * absolute in carry-arguments.ts: the other process has another current folder.
 */
export const METHODS: { readonly [Name in MethodName]: Entry<Functions[Name]> } = {
  estimate: CALL,
  preflight: CALL,
  start: CALL,
  work: FOLLOW,
  startReplay: CALL,
  workOnReplay: FOLLOW,
  watch: FOLLOW,
  models: CALL,
  evaluate: { kind: 'stream', signalAt: 0 },
  events: CALL,
  workOnAll: { kind: 'stream', signalAt: 0 },
  list: CALL,
  find: CALL,
  session: CALL,
  context: CALL,
  result: CALL,
  document: CALL,
  files: CALL,
  page: CALL,
  updateFolder: CALL,
  export: CALL,
  costs: CALL,
  waits: CALL,
  notices: CALL,
  dismissNotices: CALL,
  questions: CALL,
  answer: CALL,
  feedback: CALL,
  choose: CALL,
  setBudget: CALL,
  pause: CALL,
  cancel: CALL,
  resume: CALL,
  approve: CALL,
  iterate: CALL,
  project: CALL,
  deleteProject: CALL,
  expireProjects: CALL,
  archiveProject: CALL,
  unarchiveProject: CALL,
  holder: CALL,
  metrics: CALL,
  'sources.add': CALL,
  'sources.list': CALL,
  'sources.show': CALL,
  'sources.recordChecks': CALL,
  'sources.export': CALL,
  'sources.trace': CALL,
  'sources.merge': CALL,
  'sources.split': CALL,
  'wallet.balance': CALL,
  'wallet.history': CALL,
  'wallet.grant': CALL,
  'wallet.refund': CALL,
  'wallet.paySearches': CALL,
  'wallet.removeLimit': CALL,
  'wallet.setBudget': CALL,
  'wallet.setShare': CALL,
};

/** Whether a text from outside names a method. */
export const isMethodName = (text: string): text is MethodName => Object.hasOwn(METHODS, text);

/** The group and the name within it; null for a method of the API itself. */
export function splitName(method: MethodName): { group: MethodGroup | null; name: string } {
  const group = METHOD_GROUPS.find((one) => method.startsWith(`${one}.`)) ?? null;
  return { group, name: group === null ? method : method.slice(group.length + 1) };
}
