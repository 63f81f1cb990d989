import fc from 'fast-check';

/** What can happen to a ledger; keys and calls are few, so that they meet. */
export type Command =
  | { do: 'grant'; key: string; currency: 'USD' | 'token'; amount: number }
  | { do: 'hold'; call: string; usd: number; tokens: number; automatic: boolean }
  | { do: 'post'; call: string; usd: number; tokens: number; estimated: boolean }
  | { do: 'void' | 'expire'; call: string }
  | { do: 'refund'; key: string; call: string; usd: number; tokens: number }
  | { do: 'budget'; amount: number | null };

/** One run: commands; which of them are sent again (the answer was lost); a rush of calls. */
export type Script = {
  readonly commands: readonly Command[];
  readonly repeated: readonly { readonly at: number; readonly later: number }[];
  readonly rush: { readonly at: number; readonly usd: number } | null;
};

const call = fc.integer({ min: 0, max: 19 }).map((n) => `c${n}`);
const key = fc.integer({ min: 0, max: 4 }).map(String);
const amount = fc.integer({ min: 0, max: 300 });

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      key,
      currency: fc.constantFrom('USD' as const, 'token' as const),
      amount: fc.integer({ min: 1, max: 1000 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('hold' as const),
      call,
      usd: amount,
      tokens: amount,
      automatic: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('post' as const),
      call,
      usd: fc.integer({ min: 0, max: 400 }),
      tokens: amount,
      estimated: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('void' as const, 'expire' as const), call }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      key,
      call,
      usd: fc.integer({ min: 0, max: 100 }),
      tokens: fc.integer({ min: 0, max: 100 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('budget' as const),
      amount: fc.option(fc.integer({ min: 0, max: 2000 })),
    }),
  },
);

/** Up to a hundred commands; one run in ten has fifty calls at once in it. */
export const script: fc.Arbitrary<Script> = fc.record({
  commands: fc.array(command, { minLength: 1, maxLength: 90, size: 'max' }),
  repeated: fc.array(fc.record({ at: fc.nat(89), later: fc.nat(5) }), { maxLength: 10 }),
  rush: fc.oneof(
    { weight: 9, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.record({ at: fc.nat(89), usd: fc.integer({ min: 1, max: 60 }) }),
    },
  ),
});

/** The commands as they are sent: with repetitions, each exactly as it was the first time. */
export function expand({ commands, repeated }: Script): Command[] {
  const sent: Command[] = [];
  for (const [index, one] of commands.entries()) {
    sent.push(one);
    for (const { at, later } of repeated) {
      if (at + later === index && commands[at]) sent.push(commands[at]);
    }
  }
  return sent;
}
