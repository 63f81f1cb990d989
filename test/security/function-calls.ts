import type { ClientBase } from 'pg';

/** A call of one function or procedure with arguments that an attacker would give. */
export type Call = { readonly name: string; readonly sql: string };

type Routine = {
  name: string;
  is_procedure: boolean;
  is_variadic: boolean;
  parameters: string[];
  types: string[];
};

/** What an attacker knows or guesses of the store: the ids of its rows by their columns. */
export type Known = Readonly<Record<string, string>>;

/** What only somebody who has read rows can tell: their long texts and ids, but for those known. */
export function secretsOf(rows: readonly object[], known: Known): string[] {
  const given = new Set(Object.values(known));
  return rows
    .flatMap((row): unknown[] => Object.values(row))
    .filter((value): value is string => typeof value === 'string' && value.length >= 36)
    .filter((value) => !given.has(value));
}

/** Values for parameters by a part of their names; the first that fits. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/currency/, 'USD'],
  [/kind/, 'user'],
  [/scope/, 'tenant'],
  [/status/, 'void'],
  [/privileges/, 'select'],
  [/table_name/, 'tenants'],
];

const BY_TYPE: Readonly<Record<string, string>> = {
  text: '',
  boolean: 'true',
  integer: '5',
  bigint: '5',
  'double precision': '1',
  interval: '1 hour',
  jsonb: '{}',
  'timestamp with time zone': '2000-01-01',
};

/** Calls of everything that can be called in the schema: with what is known, and with nothing. */
export async function listCalls(client: ClientBase, known: Known): Promise<Call[]> {
  const { rows } = await client.query<Routine>(
    `select p.oid::regprocedure::text as name, p.prokind = 'p' as is_procedure,
       p.provariadic <> 0 as is_variadic,
       coalesce(p.proargnames, '{}')::text[] as parameters,
       array(select format_type(a.type, null) from unnest(p.proargtypes) with ordinality
         as a (type, place) order by a.place) as types
     from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind in ('f', 'p')
       and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
     order by 1`,
  );
  return rows.flatMap((routine) => {
    const { name, types, parameters, is_procedure: isProcedure } = routine;
    const routineName = name.slice(0, name.indexOf('('));
    const call = (values: string[]): Call => {
      if (routine.is_variadic) values.push(`variadic ${values.pop()}`);
      const verb = isProcedure ? 'call' : 'select';
      return { name, sql: `${verb} public.${routineName}(${values.join(', ')})` };
    };
    const guessed = types.map((type, at) => guess(type, parameters[at] ?? '', known));
    const nothing = types.map((type) => `null::${type}`);
    return types.length === 0 ? [call([])] : [call(guessed), call(nothing)];
  });
}

function guess(type: string, parameter: string, known: Known): string {
  const element = type.replace(/\[\]$/, '');
  const value = guessOne(element, parameter, known);
  if (value === null) return `null::${type}`;
  return type === element ? `'${value}'::${type}` : `array['${value}']::${type}`;
}

/** Null for types of rows, which nobody needs to call a function by its name. */
function guessOne(type: string, parameter: string, known: Known): string | null {
  if (type === 'uuid') {
    const column = Object.keys(known).find((name) => parameter.includes(name.replace(/_id$/, '')));
    return known[column ?? 'tenant_id'] ?? null;
  }
  if (type !== 'text') return BY_TYPE[type] ?? null;
  return BY_NAME.find(([pattern]) => pattern.test(parameter))?.[1] ?? '';
}
