import pg from 'pg';

const { builtins, getTypeParser } = pg.types;

/** int8 is a number here (micro-units and counts fit); what does not fit is an error, no guess. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 out of safe range: ${text}`);
  return value;
}

const asText = (text: string): string => text;

const overrides = new Map<number, (text: string) => unknown>([
  [builtins.INT8, parseInt8],
  // Exact decimals, and dates without a time zone, have no faithful JavaScript type.
  [builtins.NUMERIC, asText],
  [builtins.DATE, asText],
  [builtins.TIMESTAMP, asText],
  [builtins.INTERVAL, asText],
]);

const INT8_ARRAY = 1016;
const TEXT_ARRAY = 1009 as never;
const parseTextArray = getTypeParser(TEXT_ARRAY) as (text: string) => (string | null)[];
overrides.set(INT8_ARRAY, (text) =>
  parseTextArray(text).map((item) => (item === null ? null : parseInt8(item))),
);

/** The `types` setting of node-postgres: the same values come back from both databases. */
export const valueParsers: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => overrides.get(oid) ?? getTypeParser(oid, format),
};
