-- Hybrid search over the chunks in memory: by meaning with pgvector, by words with BM25, fused by
-- reciprocal ranks. src/context/scan-chunks.ts does the same in process; both rank alike.

-- The words half. Statistics are those of the chunks within the filter, as the scan has them.
create or replace function match_words(
  of_tenant uuid, of_items text[], of_session uuid, question text[], depth int
) returns table (item text, place int, rank bigint) language sql stable as $$
  with within as (
    select c.item, c.place, c.words, c.size from memory_chunks c
    where c.tenant_id = of_tenant and (of_items is null or c.item = any (of_items))
      and (of_session is null or exists (select from memory_items i
        where i.tenant_id = of_tenant and i.session_id = of_session and i.item = c.item))
  ), overall as (
    select count(*)::float8 as chunks, greatest(1, avg(w.size))::float8 as mean from within w
  ), hits as (
    select w.item, w.place, w.size, u.lexeme, cardinality(u.positions) as times
    from within w cross join lateral unnest(w.words) as u
    where w.words @@ (select string_agg(format('%L', word), ' | ')::tsquery
        from unnest(question) as word)
      and u.lexeme = any (question)
  ), rarities as (
    select h.lexeme, ln(1 + (o.chunks - count(*) + 0.5) / (count(*) + 0.5)) as rarity
    from hits h cross join overall o group by h.lexeme, o.chunks
  ), scored as (
    select h.item, h.place, sum(r.rarity * h.times * 2.2
      / (h.times + 1.2 * (0.25 + 0.75 * h.size / o.mean))) as score
    from hits h join rarities r using (lexeme) cross join overall o group by h.item, h.place
  )
  select s.item, s.place, row_number() over (order by s.score desc, s.item, s.place)
  from scored s order by 3 limit depth
$$;

-- The meaning half; only where pgvector is installed. The dimensions stand in the statement, so that
-- an HNSW index on (vector::vector(N)) serves it where an operator has made one.
create or replace function match_vectors(
  of_tenant uuid, of_items text[], of_session uuid, of_model text, question real[], depth int
) returns table (item text, place int, rank bigint) language plpgsql stable as $$
begin
  return query execute format($sql$
    select n.item, n.place, row_number() over (order by n.distance, n.item, n.place)
    from (
      select c.item, c.place, v.vector::vector(%1$s) <#> $5::vector(%1$s) as distance
      from memory_vectors v join memory_chunks c on c.tenant_id = v.tenant_id
        and c.digest = v.digest
      where v.tenant_id = $1 and v.model = $4 and v.dimensions = %1$s
        and ($2 is null or c.item = any ($2))
        and ($3 is null or exists (select from memory_items i
          where i.tenant_id = $1 and i.session_id = $3 and i.item = c.item))
      order by v.vector::vector(%1$s) <#> $5::vector(%1$s), c.item, c.place limit $6
    ) as n where n.distance < 0
    $sql$, cardinality(question))
  using of_tenant, of_items, of_session, of_model, question, depth;
end
$$;

-- Both halves fused: each gives the chunk at rank r 10 / (10 + r - 1), half of which counts.
create or replace function match_chunks(
  of_tenant uuid, of_items text[], of_session uuid, of_model text,
  question text[], question_vector real[], depth int, most int
) returns table (item text, place int, digest text, body text, score double precision)
language sql stable as $$
  select c.item, c.place, c.digest, c.body, f.score
  from (
    select h.item, h.place, sum(5.0::float8 / (9 + h.rank)) as score from (
      select * from match_vectors(of_tenant, of_items, of_session, of_model, question_vector, depth)
      union all
      select * from match_words(of_tenant, of_items, of_session, question, depth)
    ) as h group by h.item, h.place
  ) as f
  join memory_chunks c on c.tenant_id = of_tenant and c.item = f.item and c.place = f.place
  order by f.score desc, c.item, c.place limit most
$$;
